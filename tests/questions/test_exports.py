"""There and back: what is exported is imported elsewhere with nothing lost."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import shutil
import zipfile
from decimal import Decimal as D
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoAssertNumQueries

from gradeapp.accounts.models import User
from gradeapp.audit.append_only import lifted
from gradeapp.audit.models import AuditEntry
from questions.importers.records import QuestionRecord
from questions.models import Asset, Dataset, Question
from questions.rules.rubric import RubricLines, ScoringPoint
from questions.rules.vocabulary import RubricSource
from questions.selectors.bank import by_place
from questions.selectors.export_records import question_record, task_records, whole_questions
from questions.services import exports
from questions.services.imports import READERS, import_questions
from questions.services.rubric_rows import Origin, add_versions
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task
from tests.questions.upload_world import SAMPLE, lines
from tests.questions.upload_world import var as var

ADDRESS = "/questions/export/"
KNOWLEDGE = "questions_knowledge"


def as_zip(**chosen: Any) -> bytes:
    out = io.BytesIO()
    exports.export_jsonl(by_place().filter(**chosen), out, {})
    return out.getvalue()


def unpacked(content: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder


def empty_bank() -> None:
    """As on another machine: nothing of the bank is there."""
    every = connection.introspection.table_names()
    tables = [name for name in every if name.startswith("questions_") and name != KNOWLEDGE]
    with lifted(connection), connection.constraint_checks_disabled(), connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(f"TRUNCATE {', '.join(tables)} CASCADE")
            return
        for table in tables:
            cursor.execute(f'DELETE FROM "{table}"')


def records() -> dict[tuple[str, str, str], QuestionRecord]:
    found = map(question_record, whole_questions(by_place()))
    return {(one.dataset, one.task, one.external_id): one for one in found}


def images() -> set[tuple[str, str, str]]:
    return set(Asset.objects.values_list("dataset__slug", "name", "sha256"))


def there_and_back(source: str, folder: Path, tmp_path: Path) -> None:
    """Import, export, import into an empty bank: equal records, images, and bytes."""
    report = import_questions(source, folder)
    read = {
        (one.dataset, one.task, one.external_id): one
        for file in READERS[source](folder)
        if not file.refused
        for one in file.records
    }
    before, pictures, content = records(), images(), as_zip()
    facts = {one for file in READERS[source](folder) for one in file.tasks}
    assert {one for slug in Dataset.objects.all() for one in task_records(slug).values()} == facts
    assert len(before) == report.new == len(read)
    for place, one in read.items():
        assert before[place].content_hash() == one.content_hash(), place
        assert before[place].human_rates == one.human_rates, place
    empty_bank()
    assert not Question.objects.exists()
    again = import_questions("jsonl", unpacked(content, tmp_path / "export"))
    assert (again.new, again.refused) == (report.new, 0)
    assert records() == before
    assert images() == pictures
    assert as_zip() == content, "equal banks give equal files"


@pytest.mark.django_db(transaction=True)
def test_the_sample_exam(tmp_path: Path) -> None:
    there_and_back("jsonl", SAMPLE, tmp_path)


def part_of(folder: Path, name: str, part: Path) -> Path:
    """A folder without the largest files of *folder*, which say nothing that the others do not."""
    left_out = {
        "agieval": (
            *("math", "jec", "logiqa", "lsat-lr", "lsat-rc", "aqua", "sat-en-w", "sat-math"),
            *("gaokao-b", "gaokao-c", "gaokao-g", "gaokao-h", "gaokao-p"),
        ),
        "gaokao-bench": tuple(
            f"2010-2022_{part}"
            for part in ("P", "B", "H", "Math_II", "English_R", "Chinese_Language_L")
        ),
    }
    for file in sorted((folder / name).rglob("*")):
        if file.is_file() and not file.name.startswith(left_out.get(name, ("none",))):
            place = part / file.relative_to(folder / name)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, place)
    return part


@pytest.mark.shareddata
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["gaokao-bench", "agieval", "agibench"])
def test_the_published_benchmarks(shared_data: Path, tmp_path: Path, name: str) -> None:
    whole = os.environ.get("GRADEAPP_FULL") == "yes"
    folder = shared_data / name if whole else part_of(shared_data, name, tmp_path / "part")
    there_and_back(name, folder, tmp_path)


@pytest.mark.django_db
def test_a_rubric_of_more_sub_questions_than_are_left(tmp_path: Path) -> None:
    """Its source has fewer by now; the rubric that a person accepted for all of them stays."""
    file = tmp_path / "exam.jsonl"
    marked = {"type": "subjective", "letters": "", "answer": [], "reference_answer": "one"}
    file.write_bytes(lines(1, 1, sub_marks=[2, 2, 2], **marked))
    import_questions("jsonl", file)
    question = Question.objects.get()
    rubric = RubricLines(tuple(ScoringPoint(f"step {sub}", D(2), sub) for sub in (1, 2, 3)))
    add_versions({question.pk: rubric}, Origin(RubricSource.PERSON, accepted=True))
    file.write_bytes(lines(1, 1, sub_marks=[2, 2], **marked))
    import_questions("jsonl", file)
    (problem,) = question.problems.all()
    assert (problem.code, problem.detail["subs"]) == ("rubric_sum", [3])
    before, folder = records(), unpacked(as_zip(), tmp_path / "export")
    assert import_questions("jsonl", folder).same == 1, "the bank says so already"
    empty_bank()
    again = import_questions("jsonl", folder)
    assert [(found.code, found.row) for found in again.problems] == [("rubric_sum", 1)]
    assert records() == before


@pytest.mark.django_db
def test_several_datasets_stand_in_a_folder_each(tmp_path: Path) -> None:
    import_questions("jsonl", SAMPLE)
    other = tmp_path / "other.jsonl"
    other.write_bytes(lines(1, 3))
    import_questions("jsonl", other)
    folder = unpacked(as_zip(), tmp_path / "export")
    assert (folder / "small-exam" / "Physics_MCQs.jsonl").is_file()
    assert len(list((folder / "sample-exam" / "images").iterdir())) == 3
    about = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert about["rows"] == 93
    for file in about["files"]:
        content = (folder / file["name"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == file["sha256"]
        of_questions = [line for line in content.splitlines() if b'"about": "task"' not in line]
        assert len(of_questions) == file["rows"]


@pytest.mark.django_db
def test_tasks_whose_names_are_no_file_names(tmp_path: Path) -> None:
    for slug in ("a/b", "a:b", "../x", "题 一"):
        make_question(make_task(slug=slug))
    with zipfile.ZipFile(io.BytesIO(as_zip())) as archive:
        assert sorted(archive.namelist()) == [
            *("a_b-2.jsonl", "a_b.jsonl", "manifest.json", "x.jsonl", "题_一.jsonl"),
        ]


@pytest.mark.django_db
def test_the_page_exports_what_its_filters_choose(curator: User, var: Path) -> None:
    import_questions("jsonl", SAMPLE)
    browser = logged_in(curator)
    answer = browser.get(ADDRESS, {"subject": "Physics", "as": "jsonl", "dataset": "sample-exam"})
    assert answer["Content-Disposition"] == 'attachment; filename="sample-exam.zip"'
    content = b"".join(answer.streaming_content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        about = json.loads(archive.read("manifest.json"))
    physics = Question.objects.filter(subject="Physics").count()
    assert about["rows"] == physics > 0
    entry = AuditEntry.objects.get(tag="questions.exported")
    assert entry.actor == curator
    assert entry.detail["rows"] == physics
    assert entry.detail["sha256"] == hashlib.sha256(content).hexdigest()
    assert entry.detail["parameters"]["subject"] == "Physics"


@pytest.mark.django_db
def test_csv_is_safe_in_a_spreadsheet(curator: User, var: Path) -> None:
    make_question(make_task(make_dataset("exam"), slug="t"), stem='=HYPERLINK("http://x","y")')
    answer = logged_in(curator).get(ADDRESS, {"as": "csv"})
    content = b"".join(answer.streaming_content)
    assert content.startswith("\ufeff".encode())
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    assert row["stem"] == '\'=HYPERLINK("http://x","y")'
    assert (row["key"], row["dataset"], row["full_marks"]) == ("A", "exam", "6")


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    import_questions("jsonl", SAMPLE)
    with django_assert_max_num_queries(8):
        exports.export_csv(by_place(), io.BytesIO(), {})
    with django_assert_max_num_queries(14):
        as_zip()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query", [{"as": "xlsx"}, {"colour": "red"}, {"subject": "Magic"}, {"dataset": "no-such"}]
)
def test_what_is_not_there_is_refused(curator: User, var: Path, query: dict[str, str]) -> None:
    answer = logged_in(curator).get(ADDRESS, query)
    assert answer.status_code == 400
    assert not AuditEntry.objects.filter(tag="questions.exported").exists()


@pytest.mark.django_db
def test_a_teacher_takes_no_questions_away(teacher: User) -> None:
    assert logged_in(teacher).get(ADDRESS).status_code == 403


@pytest.mark.django_db
@pytest.mark.parametrize("beside", ["", ".manifest.json", ".part"])
@pytest.mark.parametrize("name", ["questions", "responses"])
def test_the_command_replaces_no_pipe_and_no_device(
    tmp_path: Path, name: str, beside: str, capsys: pytest.CaptureFixture[str]
) -> None:
    make_question()
    pipe = tmp_path / f"bank.csv{beside}"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # else a writer would wait for one
    try:
        output = ["--output", str(tmp_path / "bank.csv")]
        with pytest.raises(SystemExit):
            call_command("export", name, "--dataset", "exam", *output)
    finally:
        os.close(reader)
    assert capsys.readouterr().err == (
        f"Cannot write “{pipe}”: it is there, and is no regular file.\n"
    )
    assert [one.is_fifo() for one in tmp_path.iterdir()] == [True]


@pytest.mark.django_db
def test_the_command(tmp_path: Path) -> None:
    import_questions("jsonl", SAMPLE)
    kinds = (("csv", b"\xef\xbb\xbf"), ("zip", b"PK\x03\x04"))
    for number, (suffix, begins) in enumerate(kinds, start=1):
        file = tmp_path / f"bank.{suffix}"
        call_command("export", "questions", "--dataset", "sample-exam", "--output", str(file))
        content = file.read_bytes()
        assert content.startswith(begins)
        about = json.loads((tmp_path / f"bank.{suffix}.manifest.json").read_text(encoding="utf-8"))
        assert about["rows"] == 90
        assert about["sha256"] == hashlib.sha256(content).hexdigest()
        assert about["parameters"] == {"export": "questions", "dataset": "sample-exam"}
        assert AuditEntry.objects.filter(tag="questions.exported", actor=None).count() == number
