"""Importing questions: nothing half done, nothing twice, one sentence for what is wrong."""

from __future__ import annotations

import json
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput
from questions.models import (
    Asset,
    Dataset,
    ImportBatch,
    ImportProblem,
    Question,
    QuestionRevision,
    Rubric,
    Task,
)
from questions.rules.rubric import RubricLines, ScoringPoint
from questions.rules.vocabulary import Decision
from questions.services.decisions import Repair, decide
from questions.services.imports import import_questions
from questions.services.rubrics import accept_rubric, draft_rubric
from tests.factories import make_rubric
from tests.questions.image_world import png

pytestmark = pytest.mark.django_db

PNG = png()
BANK = (Dataset, Task, Question, QuestionRevision, Rubric, Asset, ImportBatch, AuditEntry)

LINE: dict[str, Any] = {
    "dataset": "my-exam",
    "task": "Physics_MCQs",
    "id": "p1",
    "subject": "Physics",
    "type": "single_choice",
    "language": "en",
    "stem": "Which unit measures force?\nA. joule\nB. newton",
    "letters": "AB",
    "answer": ["B"],
    "sub_marks": [4],
}
MARKED = {
    "dataset": "my-exam",
    "task": "Physics_Open",
    "id": "o1",
    "type": "subjective",
    "language": "en",
    "stem": "Look: ![a circuit](image:circuit.png)",
    "sub_marks": [4],
    "rubric": [{"text": "states the law", "points": 1.5}, {"text": "computes", "points": 2.5}],
    "images": ["circuit.png"],
    "extra": {"shelf": "7"},
}


def write(folder: Path, *lines: dict[str, Any], name: str = "exam.jsonl") -> Path:
    (folder / "images").mkdir(exist_ok=True)
    (folder / "images" / "circuit.png").write_bytes(PNG)
    file = folder / name
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def rows() -> list[int]:
    return [model.objects.count() for model in BANK]


def test_an_import_fills_the_bank(tmp_path: Path, curator: User) -> None:
    report = import_questions("jsonl", write(tmp_path, LINE, MARKED), acting_user=curator)
    assert (report.dataset, report.read, report.new) == ("my-exam", 2, 2)
    question = Question.objects.get(external_id="p1")
    assert question.current.answer_key == ["B"]
    assert question.current.sub_marks == ["4"]
    assert (question.task.part, question.subject) == ("objective", "Physics")
    marked = Question.objects.get(external_id="o1")
    assert marked.current.extra == {"shelf": "7"}
    points = marked.rubrics.get().points
    assert list(points.values_list("order", "points")) == [(1, 1.5), (2, 2.5)]
    assert bytes(Asset.objects.get(name="circuit.png").content) == PNG
    batch = ImportBatch.objects.get()
    assert (batch.kind, batch.actor, batch.counts["new"]) == ("questions", curator, 2)
    assert AuditEntry.objects.get(tag="questions.imported").actor == curator


def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, LINE, MARKED)
    # Stored without what stands behind its end, and known again by the digest of the file.
    (path / "images" / "circuit.png").write_bytes(PNG + b"<script>")
    import_questions("jsonl", path)
    before = rows()
    report = import_questions("jsonl", path)
    assert (report.read, report.new, report.same, report.changed) == (2, 0, 2, 0)
    assert rows() == before
    assert bytes(Asset.objects.get().content) == PNG
    (path / "images" / "circuit.png").write_bytes(PNG)
    assert import_questions("jsonl", path).same == 2


def test_a_changed_item_gets_a_revision_and_keeps_the_old(tmp_path: Path) -> None:
    import_questions("jsonl", write(tmp_path, LINE, MARKED))
    rubric = [{"text": "everything", "points": 4}]
    path = write(tmp_path, LINE | {"answer": ["A"], "year": 2020}, MARKED | {"rubric": rubric})
    report = import_questions("jsonl", path, dry_run=True)
    assert [(p.code, p.text) for p in report.problems] == [
        ("changed_item", "Question p1 of Physics_MCQs differs in: answer_key, year."),
        ("changed_item", "Question o1 of Physics_Open differs in: rubric."),
    ]
    report = import_questions("jsonl", path)
    assert (report.new, report.same, report.changed) == (0, 0, 2)
    question = Question.objects.get(external_id="p1")
    assert [r.answer_key for r in question.revisions.order_by("number")] == [["B"], ["A"]]
    assert (question.current.number, question.year) == (2, 2020)
    marked = Question.objects.get(external_id="o1")
    assert list(marked.rubrics.values_list("version", flat=True)) == [1, 2]


def test_a_rubric_that_did_not_change_gets_no_version(tmp_path: Path) -> None:
    import_questions("jsonl", write(tmp_path, MARKED))
    import_questions("jsonl", write(tmp_path, MARKED | {"analysis": "new"}))
    assert Rubric.objects.count() == 1


@pytest.mark.parametrize("field", ["stem", "reference_answer", "analysis"])
def test_an_accepted_rubric_of_an_earlier_text_is_named(tmp_path: Path, field: str) -> None:
    bare = {key: value for key, value in MARKED.items() if key != "rubric"}
    import_questions("jsonl", write(tmp_path, bare))
    make_rubric(Question.objects.get(), (("states the law", "4"),))
    text = "Another text: ![a circuit](image:circuit.png)"
    changed = write(tmp_path, bare | {field: text})
    warned = [
        ("changed_item", f"Question o1 of Physics_Open differs in: {field}."),
        (
            "rubric_of_earlier_text",
            "The accepted rubric of question o1 of Physics_Open "
            "was written for another text or key.",
        ),
    ]
    for dry_run in (True, False):
        report = import_questions("jsonl", changed, dry_run=dry_run)
        found = [(problem.code, problem.text) for problem in report.problems]
        assert found == (warned[:1] if field == "analysis" else warned)
    again = import_questions("jsonl", write(tmp_path, MARKED | {field: text + "!"}))
    codes = [problem.code for problem in again.problems]
    assert codes == ["changed_item"], "it brings its own, and nobody accepted the other by name"


@pytest.mark.parametrize("field", ["stem", "analysis", "rubric"])
def test_a_rubric_that_a_person_accepted_and_the_source_replaces_is_named(
    tmp_path: Path, curator: User, field: str
) -> None:
    import_questions("jsonl", write(tmp_path, MARKED))
    question = Question.objects.get()
    lines = RubricLines((ScoringPoint("states another law", Decimal(4)),))
    draft = draft_rubric(question, lines, acting_user=curator)
    accept_rubric(draft, acting_user=curator, now=timezone.now())
    told = MARKED | {"analysis": "It follows."}
    assert [p.code for p in import_questions("jsonl", write(tmp_path, told)).problems] == [
        "changed_item"
    ], "the source brings no other rubric"
    brought = {"rubric": [{"text": "everything", "points": 4}]}
    if field != "rubric":
        brought[field] = "Another text: ![a circuit](image:circuit.png)"
    changed = write(tmp_path, told | brought)
    for dry_run in (True, False):
        report = import_questions("jsonl", changed, dry_run=dry_run)
        fields = "rubric" if field == "rubric" else f"{field}, rubric"
        assert [(problem.code, problem.text) for problem in report.problems] == [
            ("changed_item", f"Question o1 of Physics_Open differs in: {fields}."),
            (
                "rubric_overtaken",
                "The rubric that a person accepted for question o1 of Physics_Open "
                "counts no more, as the source brings another.",
            ),
        ]


def test_a_contradictory_key_is_quarantined_and_named(tmp_path: Path) -> None:
    report = import_questions("jsonl", write(tmp_path, LINE | {"answer": ["F"]}))
    assert (report.read, report.quarantined) == (1, 1)
    assert [(p.row, p.code) for p in report.problems] == [(1, "key_outside_letters")]
    assert Question.objects.get().status == "quarantined"
    assert ImportProblem.objects.get().code == "key_outside_letters"


def test_the_same_question_with_another_key_waits_for_a_person(tmp_path: Path) -> None:
    stem = "Which unit measures the force that a body exerts?\nA. joule\nB. newton"
    other = LINE | {"id": "p2", "stem": stem, "answer": ["A"]}
    path = write(tmp_path, LINE | {"stem": stem}, other)
    assert import_questions("jsonl", path, dry_run=True).quarantined == 0
    assert import_questions("jsonl", path).quarantined == 2
    assert import_questions("jsonl", path).quarantined == 2


def test_a_dry_run_tells_and_keeps_nothing(tmp_path: Path) -> None:
    before = rows()
    report = import_questions("jsonl", write(tmp_path, LINE, MARKED), dry_run=True)
    assert (report.read, report.new) == (2, 2)
    assert rows() == before


def test_a_broken_file_refuses_only_itself(tmp_path: Path) -> None:
    write(tmp_path, LINE)
    (tmp_path / "broken.jsonl").write_text(json.dumps(MARKED) + "\n{oops\n")
    report = import_questions("jsonl", tmp_path)
    assert (report.read, report.new, report.refused) == (1, 1, 1)
    assert [(p.file, p.row, p.code) for p in report.problems] == [
        ("broken.jsonl", 2, "broken_json")
    ]
    assert not Question.objects.filter(external_id="o1").exists()


def test_an_image_does_not_change_under_its_revision(tmp_path: Path) -> None:
    path = write(tmp_path, LINE, MARKED)
    import_questions("jsonl", path)
    (path / "images" / "circuit.png").write_bytes(png("red"))
    with pytest.raises(BadInput, match=r"another image called 'circuit.png'"):
        import_questions("jsonl", path)
    assert bytes(Asset.objects.get().content) == PNG


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"id": "x" * 81}, "too_long"),
        ({"task": "x" * 121}, "too_long"),
        ({"paper": "x" * 81}, "too_long"),
        (
            {"type": "multi_question_choice", "sub_marks": [1000] * 11, "answer": ["B"] * 11},
            "too_many_points",
        ),
    ],
)
def test_what_a_database_would_cut_is_refused(
    tmp_path: Path, change: dict[str, Any], code: str
) -> None:
    with pytest.raises(BadInput) as refusal:
        import_questions("jsonl", write(tmp_path, LINE | change))
    assert refusal.value.code == "nothing_read"
    assert [p.code for p in ImportProblem.objects.all()] == [code]
    assert not Question.objects.exists()


def test_a_repair_stays_where_the_source_changed_something_else(
    tmp_path: Path, curator: User
) -> None:
    """What the source itself changes counts, and what a repair of it would be is for a person."""
    first = LINE | {"analysis": "故选A。"}
    import_questions("jsonl", write(tmp_path, first))
    question = Question.objects.get(external_id="p1")
    problem = question.problems.get(code="key_against_analysis")
    repair = Repair(answer_key=("A",), stem="Which unit is of force?\nA. newton\nB. joule")
    decide(problem, Decision.REPAIR, "as analysed", acting_user=curator, repair=repair)

    def now(**changed: object) -> QuestionRevision:
        import_questions("jsonl", write(tmp_path, first | changed))
        return QuestionRevision.objects.get(current_of=question)

    again = now(analysis="Force is measured in newtons.")
    assert (again.answer_key, again.published_key, again.author) == (["A"], ["B"], curator)
    assert (again.stem, again.analysis) == (repair.stem, "Force is measured in newtons.")
    assert again.reason == "as analysed"
    shifted = write(tmp_path, first | {"stem": "Force is not measured in\nA. joules\nB. newtons"})
    report = import_questions("jsonl", shifted)
    lost = [problem.text for problem in report.problems if problem.code == "repair_overtaken"]
    assert lost == [
        "What a person corrected in question p1 of Physics_MCQs counts no more, "
        "as the source counts: stem, answer_key."
    ]
    other = QuestionRevision.objects.get(current_of=question)
    assert (other.answer_key, other.author) == (["B"], None), "A may be wrong here"


BAD_INPUT = [
    ("gaokao", "exam.jsonl", "no source called “gaokao”; choose one of: gaokao-bench, "),
    ("agieval", "exam.jsonl", "exam.jsonl: AGIEval has no task called 'exam'"),
    ("agieval", "empty", "empty: The folder holds no .jsonl file."),
    ("agieval", "lsat-ar.jsonl", "lsat-ar.jsonl:2: The line is not JSON"),
    ("agibench", "broken.json", "broken.json:1: The file is not JSON: "),
    ("agibench", "other.json", "other.json: The file is not a JSON list"),
    ("agibench", "empty", "empty: The folder holds no datasets.json."),
    ("jsonl", "nowhere", "no file or folder “{path}”"),
    ("gaokao-bench", "nowhere", "no file or folder “{path}”"),
    ("jsonl", "broken.jsonl", "broken.jsonl:2: The line is not JSON"),
    ("gaokao-bench", "broken.json", "broken.json:1: The file is not JSON: "),
    ("gaokao-bench", "other.json", "other.json: The file is not one of GAOKAO-Bench"),
    ("jsonl", "empty.jsonl", "'empty.jsonl' holds no question"),
    ("jsonl", "type.jsonl", "type.jsonl:1: 'type' is 'essay'; it must be one of"),
    ("gaokao-bench", "empty", "empty: The folder holds no .json file."),
]


@pytest.mark.parametrize(("source", "name", "sentence"), BAD_INPUT)
def test_bad_input_gets_one_sentence_and_loses_nothing(
    tmp_path: Path, source: str, name: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, LINE)
    write(tmp_path, LINE | {"type": "essay"}, name="type.jsonl")
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.jsonl").write_text(json.dumps(LINE) + '\n{"dataset": ')
    (tmp_path / "broken.json").write_text('{"keywords": "2010-2022_Biology_MCQs", "example": [')
    (tmp_path / "lsat-ar.jsonl").write_text("\n{")
    (tmp_path / "other.json").write_text('{"name": 1}')
    (tmp_path / "empty.jsonl").write_text("")
    path = tmp_path / name
    with pytest.raises(SystemExit) as exit_:
        call_command("import_questions", source, str(path))
    assert exit_.value.code == 1
    error = capsys.readouterr().err.strip()
    assert sentence.format(path=path) in error
    assert "\n" not in error
    assert not Question.objects.exists()


def test_the_command_prints_the_promised_json(tmp_path: Path) -> None:
    out = StringIO()
    path = write(tmp_path, LINE | {"answer": ["F"]})
    call_command("import_questions", "jsonl", str(path), format="json", stdout=out)
    result = json.loads(out.getvalue())
    assert list(result) == [
        *("dataset", "read", "new", "same", "changed", "quarantined", "refused"),
        *("problems", "seconds"),
    ]
    assert result["problems"] == [
        {
            "file": "exam.jsonl",
            "row": 1,
            "code": "key_outside_letters",
            "text": "Key 1 is F, offered are AB.",
        }
    ]
