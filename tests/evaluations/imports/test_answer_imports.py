"""Importing answers: matched by task and index, added once, nothing guessed or dropped."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from evaluations.imports.services.answer_imports import (
    AnswerImportReport,
    DryRun,
    import_answers,
)
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    Judge,
    Judgement,
    Mark,
    MarkingRound,
    ObjectiveScore,
    Response,
    RoundTeacher,
    Run,
    Slot,
)
from evaluations.statistics.policies import SCORER_VERSION
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput
from questions.models import ImportBatch, ImportProblem, Question
from questions.services.imports import import_questions
from tests.factories import make_user

pytestmark = pytest.mark.django_db

MARKED = "2010-2022_Geography_Open-ended_Questions"
CHOICE = "2010-2022_Biology_MCQs"
EVIDENCE = (Run, Response, ObjectiveScore, MarkingRound, BlindAnswer, Slot, Mark, FinalMark, Judge)
EVIDENCE += (Judgement, ImportBatch, ImportProblem, AuditEntry, User)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A bank of three marked items of 10 points and two choice items; a folder for answers."""
    data = tmp_path / "bank"
    data.mkdir()
    item = {"year": "2015", "category": "（新课标ⅰ）", "question": "Q", "analysis": "because"}
    for keyword, answer, score, count in ((MARKED, "key", 10, 3), (CHOICE, ["B"], 6, 2)):
        items = [item | {"answer": answer, "score": score, "index": n} for n in range(count)]
        document = {"keywords": keyword, "example": items}
        (data / f"{keyword}.json").write_text(json.dumps(document))
    import_questions("gaokao-bench", data)
    folder = tmp_path / "answers"
    folder.mkdir()
    return folder


def write(
    folder: Path, *items: dict[str, Any], keyword: str = MARKED, name: str = "", **header: Any
) -> Path:
    rows = [
        {"index": place, "model_output": f"text {place}"} | item for place, item in enumerate(items)
    ]
    file = folder / f"{name or 'gpt-x'}_{keyword}.json"
    file.write_text(
        json.dumps({"keyword": keyword, "model_name": "gpt-x", **header, "example": rows})
    )
    return file


def judged(total: float, *released: float) -> dict[str, Any]:
    return {
        "model_correction": f"【判分理由】略 【总分】{total}分",
        "model_correction_score": list(released) or [total],
    }


def load(folder: Path, **options: Any) -> AnswerImportReport:
    return import_answers("gaokao-bench", folder, **options)


def codes(report: AnswerImportReport) -> Counter[str]:
    return Counter(problem.code for problem in report.problems)


def evidence() -> list[int]:
    return [model.objects.count() for model in EVIDENCE]


def test_objective_answers_are_scored_under_both_policies(bank: Path) -> None:
    write(bank, {"model_output": "【答案】B"}, {"model_output": "【答案】C"}, keyword=CHOICE)
    report = load(bank, repeat=3)
    assert (report.responses, report.marks, report.judgements) == (2, 0, 0)
    points = ObjectiveScore.objects.order_by("policy", "response__question__position")
    assert list(points.values_list("policy", "points")) == [
        ("published", 6),
        ("published", 0),
        ("strict", 6),
        ("strict", 0),
    ]
    run = Run.objects.get()
    assert (run.status, run.language_model.name, run.repeats) == ("imported", "gpt-x", 3)
    assert set(Response.objects.values_list("repeat", flat=True)) == {3}


def test_two_marks_settle_by_their_mean_and_one_by_itself(bank: Path) -> None:
    write(
        bank,
        {"correction_score": [6, 9.5]},
        {"correction_score": [None, 4]},
        {"correction_score": [None, None]},
    )
    report = load(bank)
    assert (report.responses, report.marks) == (3, 3)
    assert codes(report) == {"unmarked": 1}
    finals = FinalMark.objects.order_by("answer__question__position")
    assert list(finals.values_list("value", "rule")) == [
        (Decimal("7.75"), "mean of two"),
        (Decimal(4), "single mark"),
    ]
    assert [final.marks.count() for final in finals] == [2, 1]
    marks = Mark.objects.order_by("slot__answer__question__position", "slot__kind")
    assert list(marks.values_list("slot__kind", "teacher__username", "total")) == [
        ("first", "gaokao-bench-teacher-1", 6),
        ("second", "gaokao-bench-teacher-2", Decimal("9.5")),
        ("second", "gaokao-bench-teacher-2", 4),
    ]
    round_ = MarkingRound.objects.get()
    assert (round_.published, round_.scheme, round_.status) == (True, "mean", "closed")
    assert round_.name == f"{round_.dataset}: {round_.answers.all()[0].response.run.language_model}"
    assert round_.closed_at is not None
    assert not User.objects.filter(is_active=True).exists()
    # max(1 point, 10 % of 10)
    assert set(BlindAnswer.objects.values_list("tolerance", flat=True)) == {1}


def test_published_marks_are_nobodys_who_logs_in(bank: Path) -> None:
    """Somebody who was invited chose the name of a published teacher before."""
    person = make_user(Role.TEACHER, "gaokao-bench-teacher-1")
    write(bank, {"correction_score": [6, 9.5]})
    assert load(bank).marks == 2
    assert User.objects.get(pk=person.pk).roles == (Role.TEACHER,)
    assert not Mark.objects.filter(teacher=person).exists()
    assert not RoundTeacher.objects.filter(teacher=person).exists()


@pytest.mark.parametrize(
    ("marks", "code"), [([6, 10.5], "over_full_marks"), ([-1, 5], "below_zero")]
)
def test_an_impossible_mark_is_named_and_nothing_is_settled(
    bank: Path, marks: list[float], code: str
) -> None:
    write(bank, {"correction_score": marks})
    report = load(bank)
    assert (report.responses, report.marks) == (1, 0)
    assert codes(report) == {code: 1}
    assert not FinalMark.objects.exists()


def test_a_judges_totals_are_read_and_kept_as_released(bank: Path) -> None:
    write(
        bank,
        judged(8),
        judged(12, 12.0, 10.0),
        {"model_correction": "no total here", "model_correction_score": []},
        teacher_model_name="judge-1",
    )
    report = load(bank)
    assert (report.responses, report.judgements) == (3, 3)
    assert codes(report) == {"over_full_marks": 1, "no_total": 1}
    judgements = Judgement.objects.order_by("response__question__position")
    assert list(judgements.values_list("total", "status", "released")) == [
        (8, "scored", [8.0]),
        (None, "over_full_marks", [12.0, 10.0]),
        (None, "no_total", []),
    ]
    assert {judgement.judge.name for judgement in judgements} == {"judge-1"}


def test_a_release_that_says_something_else_than_its_reply_is_named(bank: Path) -> None:
    write(bank, judged(8, 9.0), teacher_model_name="judge-1")
    report = load(bank)
    assert codes(report) == {"released_differs": 1}
    assert Judgement.objects.get().total == 8


def test_the_judges_files_repeat_the_answers_without_adding_them(bank: Path) -> None:
    write(bank, {})
    write(bank, judged(8), name="judged", teacher_model_name="judge-1")
    report = load(bank)
    assert (report.responses, report.judgements) == (1, 1)
    assert not report.problems


def test_another_text_for_the_same_answer_is_named_and_does_not_count(bank: Path) -> None:
    write(bank, {})
    write(bank, {"model_output": "another"} | judged(8), name="judged", teacher_model_name="j")
    report = load(bank)
    assert (report.responses, report.judgements) == (1, 0)
    assert codes(report) == {"different_text": 1}
    assert Response.objects.get().text == "text 0"


def test_a_row_without_a_question_is_counted_and_named(bank: Path) -> None:
    write(bank, {}, {"index": 77})
    report = load(bank)
    assert (report.responses, report.unmatched) == (1, 1)
    (problem,) = report.problems
    assert (problem.row, problem.code) == (2, "unmatched")
    assert f"{MARKED} 77" in problem.text


def test_a_second_import_changes_nothing(bank: Path) -> None:
    write(bank, {"correction_score": [6, 7]} | judged(12, 12.0), {}, teacher_model_name="judge-1")
    write(bank, {"model_output": "【答案】B"}, keyword=CHOICE)
    first = load(bank)
    before = evidence()
    second = load(bank)
    assert (second.responses, second.marks, second.judgements) == (0, 0, 0)
    assert codes(second) == codes(first) == {"over_full_marks": 1}
    assert evidence() == before


def test_other_marks_and_gradings_of_a_known_answer_are_named_and_stay_out(bank: Path) -> None:
    write(bank, {"correction_score": [6, 7]} | judged(8), teacher_model_name="judge-1")
    load(bank)
    write(bank, {"correction_score": [6, 8]} | judged(9), teacher_model_name="judge-1")
    report = load(bank)
    assert codes(report) == {"different_marks": 1, "different_reply": 1}
    assert FinalMark.objects.get().value == Decimal("6.5")
    assert Judgement.objects.get().total == 8


def test_a_second_model_gets_a_round_and_a_run_of_its_own(bank: Path) -> None:
    write(bank, {"correction_score": [6, 7]})
    load(bank)
    load(bank, model="gpt-y")
    assert list(Run.objects.order_by("pk").values_list("language_model__name", flat=True)) == [
        "gpt-x",
        "gpt-y",
    ]
    assert MarkingRound.objects.count() == 2
    assert User.objects.count() == 2


def test_marks_stay_with_the_full_marks_of_the_answered_revision(bank: Path) -> None:
    write(bank, {})
    load(bank)
    Question.objects.get(task__slug=MARKED, external_id="0").current.__class__.objects.filter(
        question__task__slug=MARKED, question__external_id="0"
    ).update(full_marks=5)
    write(bank, {"correction_score": [6, 7]})
    assert codes(load(bank)) == {"over_full_marks": 1}


def test_a_broken_file_refuses_only_itself(bank: Path) -> None:
    write(bank, {})
    (bank / "broken.json").write_text('{"keyword": "x", "example": [')
    (bank / "summary.json").write_text('{"model_name": "m", "total_score": 3}')
    report = load(bank)
    assert (report.responses, report.skipped) == (1, 1)
    assert codes(report) == {"broken_json": 1, "summary_file": 1}
    batch = ImportBatch.objects.get(kind="answers")
    assert batch.counts["responses"] == 1
    assert set(batch.problems.values_list("code", flat=True)) == {"broken_json", "summary_file"}
    assert AuditEntry.objects.filter(tag="answers.imported").count() == 1


def own_rows(keyword: str, count: int) -> list[dict[str, Any]]:
    """Rows with a text and a key as the file of *keyword* has them."""
    words = {
        MARKED: {"question": "How do monsoons form?", "standard_answer": "key"},
        CHOICE: {"question": "Which part of a cell makes ATP?", "standard_answer": ["B"]},
    }
    return [words[keyword] | {"index": n, "model_output": f"text {n}"} for n in range(count)]


def test_rows_of_other_questions_are_named_and_too_many_of_them_refuse_the_file(
    tmp_path: Path,
) -> None:
    item = {"year": "2015", "category": "", "analysis": "", "answer": ["B"], "score": 6}
    items = [item | {"index": n, "question": f"Question number {n}?"} for n in range(10)]
    data = tmp_path / "bank.json"
    data.write_text(json.dumps({"keywords": CHOICE, "example": items}))
    import_questions("gaokao-bench", data)
    rows = [{"question": one["question"], "standard_answer": ["B"]} for one in items]
    other = {"question": "Quite another one", "standard_answer": ["C"]}
    rows[0] |= {"question": "Ｑｕｅｓｔｉｏｎ  number 0 ?\n", "standard_answer": ["C"]}
    rows[1] |= {"question": "An edited text"}
    beside = {"index": 77, **other}
    file = write(tmp_path, *rows[:7], other, other, other, beside, keyword=CHOICE)
    report = import_answers("gaokao-bench", file)
    assert (report.responses, codes(report)) == (7, {"other_question": 3, "unmatched": 1})
    assert [problem.row for problem in report.problems] == [11, 8, 9, 10]
    assert f"not those of {CHOICE} 7" in report.problems[1].text
    file = write(tmp_path, *rows[:6], other, other, other, other, beside, keyword=CHOICE)
    with pytest.raises(BadInput, match="4 of 10 rows hold other questions"):
        import_answers("gaokao-bench", file, model="another")


def test_two_files_under_each_others_names_are_refused_whole(bank: Path) -> None:
    for keyword, other in ((MARKED, CHOICE), (CHOICE, MARKED)):
        (bank / f"moss_{keyword}.json").write_text(json.dumps(own_rows(other, 2)))
    with pytest.raises(BadInput, match=r"moss_.*: 2 of 2 rows hold other questions"):
        load(bank)
    assert not Run.objects.exists()
    write(bank, {})
    report = load(bank)
    assert (report.responses, codes(report)) == (1, {"other_task": 2})


def test_a_list_of_the_first_release_is_read_by_its_name(bank: Path) -> None:
    rows = [{"index": n, "model_output": "B", "question": "Q"} for n in range(2)]
    (bank / f"moss_{CHOICE}.json").write_text(json.dumps(rows))
    (bank / "list.json").write_text(json.dumps(rows))
    report = load(bank)
    assert (report.responses, report.skipped, codes(report)) == (2, 1, {"no_task": 1})
    assert Run.objects.get().language_model.name == "moss"


def test_a_programs_message_is_no_answer(bank: Path) -> None:
    write(bank, {"model_output": "Internal Server Error"}, {"model_output": ""}, keyword=CHOICE)
    write(bank, {"model_output": "单次输入限长为 1000 字符。"}, {"model_output": "monsoons"})
    load(bank)
    flags = Response.objects.order_by("question__part", "question__position")
    assert list(flags.values_list("is_error_text", flat=True)) == [True, False, True, False]
    # What an earlier version stored is marked by the migration.
    flags.update(is_error_text=False)
    migration = import_module("evaluations.migrations.0012_error_texts")
    migration.mark(apps, SimpleNamespace(connection=connection))
    assert list(flags.values_list("is_error_text", flat=True)) == [True, False, True, False]
    found = ObjectiveScore.objects.order_by("response__question__position", "policy")
    rows = found.values_list("policy", "points", "full", "outcome", "extraction__outcome")
    assert list(rows) == [
        ("published", 0, 6, "api_error", "api_error"),
        ("strict", 0, 6, "api_error", "api_error"),
        ("published", 0, 6, "no_answer", "no_answer"),
        ("strict", 0, 6, "no_answer", "no_answer"),
    ]
    versions = found.values_list("reader_version", "scorer_version")[:2]
    assert set(versions) == {("error-1", SCORER_VERSION)}


def test_answers_of_two_conditions_are_two_runs(bank: Path, curator: User) -> None:
    line = {"dataset": "gaokao-bench", "task": CHOICE, "model": "m", "repeat": 1, "id": "0"}
    lines = [
        line | {"text": "【答案】B"},
        line | {"text": "【答案】C", "setting": "few-shot-cot"},
        line | {"text": "【答案】D", "condition": "GPT, warm"},
    ]
    file = bank / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert import_answers("jsonl", file, acting_user=curator).responses == 3
    assert import_answers("jsonl", file, acting_user=curator).responses == 0
    runs = Run.objects.filter(language_model__name="m").order_by("pk")
    asked = list(runs.values_list("condition__name", "condition__setting"))
    assert asked == [
        ("as published", ""),
        ("as published, few-shot-cot", "few-shot-cot"),
        ("GPT, warm", ""),
    ]
    alike = [
        line | {"id": "1", "text": "B"} | one
        for one in ({"model": "Ｍ"}, {"condition": "gpt,  Warm"})
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in [*lines, *alike]))
    report = import_answers("jsonl", file, dry_run=DryRun(), acting_user=curator)
    assert codes(report) == {"similar_name": 2}
    assert "a model “m”; “Ｍ” differs" in report.problems[0].text
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    # what the command says stands for the rows that do not say it
    again = import_answers("jsonl", file, setting="zero-shot", acting_user=curator)
    assert again.responses == 2
    with pytest.raises(BadInput, match="There is no setting"):
        import_answers("jsonl", file, setting="kind", acting_user=curator)
    file.write_text(json.dumps(line | {"text": "B", "setting": "few"}))
    with pytest.raises(BadInput, match=r"jsonl:1: 'setting' is 'few'; it must be one of: "):
        import_answers("jsonl", file, acting_user=curator)


def test_answers_in_our_own_format(bank: Path, curator: User) -> None:
    line = {"dataset": "gaokao-bench", "task": CHOICE, "model": "m", "repeat": 1}
    lines = [
        line
        | {"id": "0", "text": "【答案】B", "question": "q", "key": "C"}
        | {"prompt_tokens": 9, "completion_tokens": 4},
        line | {"id": "1", "text": "and so", "finish_reason": "length"},
        line | {"id": "9", "text": "B", "question": "Q", "key": ["B"]},
        line | {"id": "0", "text": "B", "dataset": "elsewhere"},
    ]
    file = bank / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = import_answers("jsonl", file, acting_user=curator)
    assert (report.responses, report.unmatched) == (2, 2)
    assert codes(report) == {"unmatched": 2}
    strict = ObjectiveScore.objects.filter(policy="strict").order_by("response__pk")
    assert list(strict.values_list("outcome", flat=True)) == ["correct", "truncated"]
    batch = ImportBatch.objects.get(kind="answers")
    assert (batch.actor, batch.counts["completion_tokens"]) == (curator, 4)


@pytest.mark.parametrize(
    ("source", "path", "options", "sentence"),
    [
        ("gaokao", ".", {}, "no source called “gaokao”; choose one of: gaokao-bench, jsonl"),
        ("gaokao-bench", "nowhere", {}, "no file or folder"),
        ("gaokao-bench", ".", {"repeat": 0}, "A repeat must be a whole number from 1, not 0"),
        ("gaokao-bench", ".", {"model": " "}, "1 to 100 characters"),
        ("gaokao-bench", ".", {"model": "gpt\u200b"}, "invisible"),
        ("jsonl", ".", {"condition": "w\u0430rm"}, "alike"),
        ("gaokao-bench", ".", {}, "answers: The folder holds no .json file"),
        ("jsonl", ".", {}, "answers: The folder holds no .jsonl file"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(
    bank: Path, source: str, path: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        import_answers(source, bank / path, **options)


def test_answers_before_their_questions_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no questions of gaokao-bench yet\. Import"):
        import_answers("gaokao-bench", tmp_path)
