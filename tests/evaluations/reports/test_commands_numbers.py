"""The commands score, report, export, check_cases and import_answers as others call them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.facts.answer_facts import rebuild_facts
from evaluations.imports.services.answer_imports import import_answers
from evaluations.models import Extraction, Job, ObjectiveScore, Response, Run
from evaluations.reading.services.readers import ERROR_TEXT_VERSION
from evaluations.reports.selectors.reports import REPORTS
from evaluations.statistics.policies import SCORER_VERSION
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.services.imports import import_questions
from tests.evaluations import check_world
from tests.factories import make_dataset, make_question, make_task

pytestmark = pytest.mark.django_db

KEYWORD = "2010-2022_Geography_Open-ended_Questions"
CHOICE = "2010-2022_Biology_MCQs"


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """Two choice items of 6 points, one right and one wrong, and one marked item of 10."""
    data, answers = tmp_path / "bank", tmp_path / "answers"
    for folder in (data, answers):
        folder.mkdir()
    item = {"year": "2015", "category": "（新课标ⅰ）", "question": "Q", "analysis": ""}
    choice = [item | {"answer": ["B"], "score": 6, "index": n} for n in range(2)]
    marked = [item | {"answer": "key", "score": 10, "index": 0}]
    for keyword, items in ((CHOICE, choice), (KEYWORD, marked)):
        (data / f"{keyword}.json").write_text(json.dumps({"keywords": keyword, "example": items}))
    import_questions("gaokao-bench", data)
    rows = [{"index": 0, "model_output": "【答案】B"}, {"index": 1, "model_output": "【答案】C"}]
    write(answers / "choice.json", {"keyword": CHOICE, "model_name": "gpt-x", "example": rows})
    row = {"index": 0, "model_output": "=1+1", "correction_score": [6, 7.5]}
    write(answers / "marked.json", {"keyword": KEYWORD, "model_name": "gpt-x", "example": [row]})
    return answers


@pytest.fixture
def answered(bank: Path) -> Path:
    import_answers("gaokao-bench", bank)
    return bank


def write(file: Path, document: object) -> Path:
    file.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return file


def text(*arguments: Any, **options: Any) -> str:
    out = StringIO()
    call_command(*map(str, arguments), **options, stdout=out)
    return out.getvalue()


def as_json(*arguments: Any) -> dict[str, Any]:
    return json.loads(text(*arguments, "--format", "json"))


def refused(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    with pytest.raises(SystemExit) as exit_:
        call_command(*map(str, arguments))
    assert exit_.value.code == 1
    sentence = capsys.readouterr().err.strip()
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def test_import_answers_prints_the_promised_json(bank: Path) -> None:
    result = as_json("import_answers", "gaokao-bench", bank, "--model", "gpt-y", "--repeat", "2")
    assert result.pop("seconds") >= 0
    assert result == {
        "responses": 3,
        "marks": 2,
        "judgements": 0,
        "unmatched": 0,
        "skipped": 0,
        "problems": [],
    }
    assert Run.objects.get().language_model.name == "gpt-y"


def test_import_answers_shows_problems_with_their_place(bank: Path) -> None:
    write(bank / "summary.json", {"model_name": "gpt-x", "total_score": 1})
    shown = text("import_answers", "gaokao-bench", bank)
    assert "responses: 3" in shown
    assert "summary.json: summary_file: The file is a summary of scores" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("gaokao", "."), "no source called “gaokao”"),
        (("gaokao-bench", "/nowhere"), "no file or folder “/nowhere”"),
        (("jsonl", "/nowhere"), "no file or folder “/nowhere”"),
    ],
)
def test_import_answers_refuses_in_one_sentence(
    bank: Path,
    arguments: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert sentence in refused(capsys, "import_answers", *arguments)


def test_score_counts_what_has_a_score_and_adds_what_has_none(answered: Path) -> None:
    Response.objects.update(strict_score=None)
    rebuild_facts()
    ObjectiveScore.objects.filter(policy="strict").delete()
    expected = {"policy": "strict", "scored": 2, "outcomes": {"correct": 1, "wrong": 1}}
    for _ in range(2):
        result = as_json("score", "--all")
        assert result.pop("seconds") >= 0
        assert result == expected
    entry = AuditEntry.objects.get(tag="objective.rescored")
    assert entry.detail == {"policy": "strict", "scores": 2}
    assert "  correct: 1" in text("score", "--all", "--policy", "published")


def test_score_makes_both_policies_and_messages_anew_and_says_how_far(
    answered: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an upgrade leaves: scores of earlier readers, and a message marked by a migration."""
    scores = ObjectiveScore.objects.all()
    scores.update(reader_version="strict-0", scorer_version="objective-0")
    Extraction.objects.update(reader_version="strict-0")
    Response.objects.filter(text="【答案】C").update(is_error_text=True)
    rebuild_facts()
    call_command("score", "--all", "--format", "json")
    said = capsys.readouterr()
    result = json.loads(said.out)
    assert (result["policy"], result["scored"]) == ("strict", 2)
    assert result["outcomes"] == {"api_error": 1, "correct": 1}
    assert said.err == "\r2 of 2 responses\n"
    message = Response.objects.get(is_error_text=True)
    for score in (message.strict_score, message.published_score):
        assert (score.reader_version, score.scorer_version) == (ERROR_TEXT_VERSION, SCORER_VERSION)
    assert (scores.count(), Extraction.objects.count()) == (8, 8)
    policies = AuditEntry.objects.filter(tag="objective.rescored").values_list("detail", flat=True)
    assert sorted(detail["policy"] for detail in policies) == ["published", "strict"]


def test_score_takes_one_run_by_number_or_public_id(answered: Path) -> None:
    run = Run.objects.get()
    assert as_json("score", "--run", run.pk)["scored"] == 2
    assert as_json("score", "--run", run.public_id)["scored"] == 2


@pytest.mark.parametrize("run", ["99", "soon", "9" * 40, "²"])
def test_score_refuses_a_run_that_is_not_there(
    answered: Path, run: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"no run “{run}”" in refused(capsys, "score", "--run", run)


def test_score_refuses_an_unknown_policy(capsys: pytest.CaptureFixture[str]) -> None:
    sentence = refused(capsys, "score", "--all", "--policy", "kind")
    assert "no policy “kind”; choose one of: published, strict" in sentence


def test_report_prints_the_promised_json(answered: Path) -> None:
    result = as_json("report", "rates", "--dataset", "gaokao-bench")
    assert result["report"] == "rates"
    assert result["params"] == {
        "dataset": "gaokao-bench",
        "marker": "teachers",
        "policy": "strict",
        "items": 3,
        "left_out": {},
        "excluded": 0,
        "unscored": {},
    }
    rows = {(row["key"]["subject"], row["key"]["part"]): row["figures"] for row in result["rows"]}
    assert rows["Biology", "objective"]["points"]["value"] == 6
    rate = rows["ALL", "subjective"]["rate"]
    assert rate["value"] == 0.675  # (6 + 7.5) / 2 of 10
    assert set(rate) == {"value", "n", "low", "high", "reason"}


def test_report_prints_an_aligned_table_with_n_and_reasons(answered: Path) -> None:
    shown = text("report", "converted", "--dataset", "gaokao-bench", "--model", "gpt-x")
    first, head, *lines = shown.splitlines()
    assert first == (
        "converted: dataset=gaokao-bench models=gpt-x policy=strict "
        "items=3 left_out=0 excluded=0 unscored=0"
    )
    assert head.split()[:4] == ["model", "condition", "stream", "subject"]
    assert len({line.index("teachers") for line in lines}) == 1
    biology = next(line for line in lines if "Biology" in line)
    assert "13.5 [" in biology  # half of 27 objective points
    assert "missing:Biology/subjective n=2" in biology


def test_a_report_that_is_not_cut_refuses_a_key() -> None:
    error = StringIO()
    with pytest.raises(SystemExit):
        call_command("report", "rates", "--by", "task", "--dataset", "exam", stderr=error)
    assert "The report rates takes no --by." in error.getvalue()


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_a_report_of_nothing_says_why_in_words(name: str) -> None:
    make_question(make_task(make_dataset()))
    out = StringIO()
    by = ["--by", "task"] if name == "cuts" else []
    call_command("report", name, *by, "--dataset", make_dataset().slug, stdout=out)
    assert "No rows: " in out.getvalue()
    assert not re.search(r"None|nan|inf\b", out.getvalue())


def test_report_says_in_words_why_a_cell_of_a_paper_is_another(answered: Path) -> None:
    shown = text("report", "paper-tables", "--paper", "gaokao-bench")
    params, cells, head, *lines = shown.splitlines()
    assert "{" not in params + cells
    assert params.endswith(" models=gpt-x:gpt-x")
    assert cells.startswith("cells equal/rebuilt/printed: table-1 0/0/132, table-2 0/0/55, ")
    assert head.split()[-1] == "why"
    words = {
        tuple(line.split()[:2]): line[head.index("why") :] for line in lines if "Physics" in line
    }
    assert words["table-1", "GPT-3.5-turbo-0301"] == (
        "no answers of this model are loaded; G05: A type slip in the released answers: answers of"
        " several letters got nothing in two runs. Scored correctly it is 46.4;"
        " G15: A mean of three runs; loaded here are fewer"
    )
    assert words["table-7", "Physics"] == ""
    assert not any("n=0" in line for line in lines if line.startswith("table-7"))
    single = next(line for line in lines if "Single Choice" in line and "number" in line)
    assert single.endswith("the questions loaded are not exactly those of the paper")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("rate", "--dataset", "gaokao-bench"), "no report “rate”"),
        (("paper-tables", "--paper", "bible"), "no paper “bible”; choose one of: gaokao-bench,"),
        (("rates",), "Specify the dataset, for example --dataset gaokao-bench."),
        (("rates", "--dataset", "gaokao"), "no dataset “gaokao”. Available: gaokao-bench"),
        (("rates", "--dataset", "gaokao-bench", "--model", "m"), "“m” has no responses"),
        (
            ("rates", "--dataset", "gaokao-bench", "--marker", "judge:m"),
            "Available markers: teachers",
        ),
        (("rates", "--dataset", "gaokao-bench", "--policy", "p"), "no policy “p”"),
        (("rates", "--dataset", "gaokao-bench", "--year", "1900"), "Available years: 2015"),
    ],
)
def test_report_refuses_in_one_sentence(
    answered: Path,
    arguments: tuple[str, ...],
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert sentence in refused(capsys, "report", *arguments)


def exported(file: Path) -> list[dict[str, str]]:
    content = file.read_bytes()
    manifest = json.loads(file.with_name(f"{file.name}.manifest.json").read_text())
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    assert manifest["parameters"]["dataset"] == "gaokao-bench"
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert manifest["rows"] == len(rows)
    return rows


def test_export_writes_a_report_and_its_manifest(answered: Path, tmp_path: Path) -> None:
    file = tmp_path / "rates.csv"
    result = as_json("export", "rates", "--dataset", "gaokao-bench", "--output", file)
    rows = exported(file)
    assert (result["file"], result["rows"]) == (str(file), len(rows))
    assert rows[0]["marker"] == "teachers"
    entry = AuditEntry.objects.get(tag="report.exported")
    assert entry.detail["sha256"] == result["sha256"]


def test_export_writes_every_score(answered: Path, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    call_command("export", "scores", "--dataset", "gaokao-bench", "--output", str(file))
    rows = exported(file)
    assert [(row["task"], row["id"], row["marker"], row["points"]) for row in rows] == [
        (CHOICE, "0", "key", "6"),
        (CHOICE, "1", "key", "0"),
        (KEYWORD, "0", "teachers", "6.75"),
    ]


def test_export_writes_every_mark_beside_its_final(answered: Path, tmp_path: Path) -> None:
    file = tmp_path / "marks.csv"
    call_command("export", "marks", "--dataset", "gaokao-bench", "--output", str(file))
    rows = exported(file)
    assert [(row["kind"], row["teacher"], row["total"], row["final"]) for row in rows] == [
        ("first", "gaokao-bench-teacher-1", "6", "6.75"),
        ("second", "gaokao-bench-teacher-2", "7.5", "6.75"),
    ]
    assert {row["rule"] for row in rows} == {"mean of two"}


@pytest.mark.parametrize(
    ("name", "output", "sentence"),
    [
        ("rates", "/nowhere/rates.csv", "Cannot write “/nowhere/rates.csv”"),
        ("everything", "x.csv", "no export “everything”; choose one of: rates"),
        ("cuts", "x.csv", "Cut by one key or by two different ones"),
    ],
)
def test_export_refuses_in_one_sentence(
    answered: Path, name: str, output: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("export", name, "--dataset", "gaokao-bench", "--output", output)
    assert sentence in refused(capsys, *arguments)
    assert not AuditEntry.objects.filter(tag="report.exported").exists()


def test_a_report_counts_calls_that_failed(answered: Path) -> None:
    run = Run.objects.get()
    response = run.responses.filter(question__task__slug=CHOICE).first()
    assert response is not None
    Job.objects.create(
        run=run,
        question=response.question,
        revision=response.revision,
        repeat=2,
        status="failed",
    )
    result = as_json("report", "ledger", "--dataset", "gaokao-bench")
    figures = {row["key"]["task"]: row["figures"] for row in result["rows"]}
    assert figures[CHOICE]["api_error"] == {
        "value": 1,
        "n": 3,
        "low": None,
        "high": None,
        "reason": None,
    }


CASES = [
    {
        "kind": "single_choice",
        "letters": "ABCD",
        "parts": 1,
        "output": "【答案】A",
        "expect": {"answer": ["A"]},
    },
    {
        "kind": "single_choice",
        "letters": "ABCD",
        "parts": 1,
        "output": "【答案】A",
        "expect": {"outcome": "no_answer"},
    },
    {"full": 10, "reply": "【总分】7.5分", "score": 7.5},
    {"full": 10, "reply": "【总分】12分", "status": "over_full_marks"},
    {"full": 10, "reply": "【总分】12分", "score": 10},
]


def test_check_cases_compares_each_case(tmp_path: Path) -> None:
    file = write(tmp_path / "cases.json", CASES)
    result = as_json("check_cases", file)
    assert (result["total"], result["passed"]) == (5, 3)
    assert result["failed"] == [
        {
            "index": 1,
            "expected": {"outcome": "no_answer"},
            "got": {"answer": ["A"], "outcome": "read"},
        },
        {
            "index": 4,
            "expected": {"score": 10.0},
            "got": {"score": None, "status": "over_full_marks", "flag": None},
        },
    ]
    assert "case 1: expected {'outcome': 'no_answer'}" in text("check_cases", file)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("[", "is not JSON"),
        ("[]", "is not a list of cases"),
        ('{"a": 1}', "is not a list of cases"),
        ('{"equivalence": []}', "is not a list of cases"),
        ('{"equivalence": 3}', "is not a list of cases"),
        ('{"equivalence": [{"gold": 3, "answer": "3", "equal": true}]}', "Case 0 is not in"),
        ('{"extraction": [{"output": "3"}]}', "Case 0 is not in the required"),
        ("[3]", "Case 0 is not in the required"),
        ('[{"output": "A"}]', "Case 0 is not in the required"),
        ('[{"reply": "x", "full": 3}]', "Case 0 is not in the required"),
        ('[{"reply": "x", "full": "ten", "score": 1}]', "Case 0 is not in the required"),
    ],
)
def test_check_cases_refuses_other_files(
    tmp_path: Path, content: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.json"
    file.write_text(content)
    assert sentence in refused(capsys, "check_cases", file)
    assert "no file" in refused(capsys, "check_cases", tmp_path / "gone.json")


def test_check_cases_runs_what_people_corrected(
    tmp_path: Path, curator: User, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "No extraction has been corrected" in refused(capsys, "check_cases", "--corrections")
    wrong, confirmed = check_world.answers("【答案】A", "【答案】A")
    check_world.check(wrong, curator, "B")
    check_world.check(confirmed, curator, "A")
    file = tmp_path / "corrections.json"
    result = as_json("check_cases", "--corrections", "--save", file)
    got = {"answer": ["A"], "outcome": "read"}
    failed = [{"index": 0, "expected": {"answer": ["B"]}, "got": got}]
    assert result == {"total": 1, "passed": 0, "failed": failed}
    assert as_json("check_cases", file) == result
    for wrongly in ((), (file, "--corrections"), (file, "--save", file)):
        assert "Specify a file of test cases" in refused(capsys, "check_cases", *wrongly)


@pytest.mark.shareddata
@pytest.mark.parametrize(
    ("name", "total"), [("choice_extraction", 39), ("judge_replies", 12), ("math", 21)]
)
def test_the_shared_cases_all_pass(shared_data: Path, name: str, total: int) -> None:
    result = as_json("check_cases", shared_data.parent / "cases" / f"{name}.json")
    assert (result["total"], result["failed"]) == (total, [])
