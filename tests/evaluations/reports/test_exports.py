"""Exports: the table of responses, streams, and files that are made in the background."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command
from django.db import connection, connections
from django.utils import timezone

from evaluations.facts.params import ReportParams
from evaluations.models import Export, Job, Response
from evaluations.models.vocabulary import JobStatus
from evaluations.reports.selectors import scored_answers
from evaluations.reports.selectors.export_tables import ROWS
from evaluations.reports.selectors.reports import EVERY_REPORT
from evaluations.reports.services import export_jobs, exports
from evaluations.reports.services.exports import Asked, stream_export, write_export
from evaluations.schemes import FinalRule, Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.named import WorkStatus as Is
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.common.table_files import MEDIA_TYPES, FileFormat
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.marking_world import (
    answers_of,
    claimed,
    give,
    later,
    planned_pair,
    small_round,
)
from tests.evaluations.report_world import ALPHA, JUDGE, chosen, judged, mark, run_of, written

SCORES = Asked("scores", ReportParams("exam"))


@pytest.fixture(autouse=True)
def small(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files in a folder of their own; pages of two rows; three rows are a long table."""
    settings.VAR_DIR = tmp_path
    monkeypatch.setattr(scored_answers, "PAGE", 2)
    monkeypatch.setattr(scored_answers.scored_pages, "__defaults__", (2,))
    monkeypatch.setattr(exports, "MOST_AT_ONCE", 3)


@pytest.fixture
def answers(db: None) -> list[Response]:
    """Five choices in physics and one in history, with a call that failed."""
    run = run_of(ALPHA)
    made = chosen(run, "A", "B", "no letter", "A", "C")
    made += chosen(run, "A", subject=Subject.HISTORY)
    last = made[0]
    Job.objects.create(
        run=run, question=last.question, revision=last.revision, repeat=2, status=JobStatus.FAILED
    )
    return made


def rows_of(asked: Asked) -> list[dict[str, str]]:
    out = io.BytesIO()
    write_export(asked, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode("utf-8-sig"))))


def test_a_row_of_the_responses_has_all_that_led_to_its_points(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher, third_teacher], scheme=Scheme.THREE_AND_LEAD)
    (first,) = answers_of(made)
    waits = written(run_of(dataset=made.dataset.slug))
    one, another = planned_pair(first)
    (third,) = {teacher, other_teacher, third_teacher} - {one, another}
    give(first, one, ["3", "2.5", "6"])
    give(first, another, ["0", "0", "5"])
    claimed(third, made, later(2))
    give(first, third, ["3", "3", "5"], now=later(3))
    judged(first.response, "9.5")
    judged(waits, None, "over_full_marks", released=[14.0])
    slug = made.dataset.slug
    rows = {row["response"]: row for row in rows_of(Asked("responses", ReportParams(slug)))}
    row = rows[str(first.response.public_id)]
    assert (row["final"], row["points"]) == ("11.25", "11.25")
    assert row["rule"] == FinalRule.CLOSEST_1_3
    assert {row[f"{kind}_by"]: row[kind] for kind in ("first", "second", "third")} == {
        one.username: "11.5",
        another.username: "5",
        third.username: "11",
    }
    assert row["first_entered_by"] == row["first_by"]
    assert (row["round"], row["scheme"], row["tolerance"]) == ("Round 4", "2+1+1", "1")
    assert (row[f"judge:{JUDGE}"], row[f"judge:{JUDGE} status"]) == ("9.5", "scored")
    assert (row["run"], row["repeat"]) == (str(first.response.run_id), "1")
    other = rows[str(waits.public_id)]
    assert (other["points"], other["final"], other["first"]) == ("", "", ""), "no final mark yet"
    assert (other["reason"], other[f"judge:{JUDGE} status"]) == ("unmarked", "over_full_marks")


@pytest.mark.parametrize("name", ROWS)
def test_a_table_of_rows_is_the_same_in_every_format(
    name: str, teacher: User, other_teacher: User
) -> None:
    """Marks with points and a total alone, responses that are scored and that are not."""
    made = small_round([teacher, other_teacher])
    (first,) = answers_of(made)
    give(first, planned_pair(first)[0], ["3", "2.5", "6"])
    mark(written(run_of(dataset=made.dataset.slug)), "7.25", "8")
    judged(first.response, "9.5")
    asked = Asked(name, ReportParams(made.dataset.slug))
    files = {kind: io.BytesIO() for kind in FileFormat}
    for kind, file in files.items():
        write_export(replace(asked, file_format=kind), file)
        file.seek(0)
    frames = [
        pd.read_csv(files[FileFormat.CSV], dtype=str, keep_default_na=False),
        pd.read_excel(files[FileFormat.XLSX], dtype=str, keep_default_na=False),
        pd.read_json(files[FileFormat.JSONL], lines=True, dtype=False),
        pd.read_parquet(files[FileFormat.PARQUET]),
    ]
    of_csv, *others = [frame.map(_as_text) for frame in frames]
    assert len(of_csv) == (3 if name == "marks" else 2)
    for frame in others:
        pd.testing.assert_frame_equal(frame, of_csv, check_dtype=False)


def _as_text(cell: Any) -> str:
    """A number that is a float in one format and an integer or text in another, and none at all."""
    if cell is None or cell != cell or cell == "":
        return ""
    try:
        return f"{float(cell):g}"
    except ValueError:
        return str(cell)


def test_pages_hold_what_the_whole_holds(answers: list[Response]) -> None:
    """Pages of two of all rows are the rows, for keys, teachers and a judge."""
    subjective = written(run_of(ALPHA))
    mark(subjective, "4", "7")
    judged(written(run_of(ALPHA)), "8")
    for marker in ("teachers", f"judge:{JUDGE}"):
        for policy in ("strict", "published"):
            params = ReportParams("exam", marker=marker, policy=policy)
            pages = list(scored_answers.scored_pages(params))
            assert [row for page in pages for row in page] == scored_answers.scored_answers(params)
            assert {len(page) for page in pages} <= {1, 2}
            assert scored_answers.count_answers(params) == 9
    failed = rows_of(Asked("responses", ReportParams("exam")))[-1]
    assert (failed["outcome"], failed["response"]) == ("api_error", "")
    assert (failed["run"], failed["id"]) == (
        str(answers[0].run_id),
        answers[0].question.external_id,
    )


def test_a_long_file_is_a_stream_that_the_trail_names_twice(
    answers: list[Response], admin: User
) -> None:
    client = logged_in(admin)
    response = client.get("/reports/export/scores.csv?dataset=exam")
    content = b"".join(response.streaming_content)
    assert response["Content-Disposition"] == 'attachment; filename="exam-scores.csv"'
    begun, ended = AuditEntry.objects.filter(tag="report.exported").order_by("pk")
    assert "sha256" not in begun.detail
    assert ended.detail["sha256"] == hashlib.sha256(content).hexdigest()
    assert (ended.detail["rows"], ended.detail["whole"]) == (7, True)
    whole = io.BytesIO()
    assert write_export(SCORES, whole)["rows"] == 7
    assert whole.getvalue() == content
    refused = client.get("/reports/export/scores.xlsx?dataset=exam")
    assert refused.status_code == 400
    assert "Create it on the page “Exports”" in refused.text
    stream = stream_export(SCORES, acting_user=admin)
    next(stream), next(stream)
    stream.close()  # type: ignore[attr-defined]
    left = AuditEntry.objects.filter(tag="report.exported").latest("pk")
    assert (left.detail["rows"], left.detail["whole"]) == (0, False), "left with the first rows"


def test_a_worker_makes_a_long_file_for_its_owner_alone(
    answers: list[Response], admin: User, lead: User
) -> None:
    client = logged_in(admin)
    sent = {"table": "responses", "file_format": "xlsx"}
    started = client.post("/reports/exports/?dataset=exam", sent)
    (work,) = Export.objects.all()
    page = f"/reports/exports/{work.pk}/"
    assert started["Location"] == page
    assert client.get(f"{page}file/").status_code == 404
    again = client.post("/reports/exports/?dataset=exam", sent)
    assert "A file of yours is being made" in again.text
    assert export_jobs.look_for_exports() == [work.pk]
    assert export_jobs.work_on_export(work.pk)
    assert not export_jobs.work_on_export(work.pk)
    work.refresh_from_db()
    assert (work.status, work.rows_done, work.rows_total) == (Is.DONE, 7, 7)
    file = client.get(f"{page}file/")
    content = b"".join(file.streaming_content)
    assert hashlib.sha256(content).hexdigest() == work.sha256
    about = client.get(f"{page}manifest/").json()
    assert about["parameters"] == {
        "export": "responses",
        "dataset": "exam",
        "marker": "teachers",
        "policy": "strict",
    }
    entry = AuditEntry.objects.filter(tag="report.exported").latest("pk")
    assert (entry.actor, entry.detail["export"]) == (admin, work.pk)
    other = logged_in(lead)
    for end in ("", "progress/", "file/", "manifest/"):
        assert other.get(page + end).status_code == 404, end
    assert other.post(f"{page}stop/").status_code == 404
    assert work.file_name not in other.get("/reports/exports/").text
    later = timezone.now() + timedelta(days=8)
    assert export_jobs.look_for_exports(lambda: later) == []
    assert list(export_jobs.exports_folder().iterdir()) == []
    assert "This file was deleted" in client.get(f"{page}file/").text
    assert "This file was deleted" in client.get(page).text


@pytest.mark.django_db(transaction=True)
def test_a_script_starts_sees_and_fetches_a_file(
    answers: list[Response], admin: User, lead: User
) -> None:
    client, address = logged_in(admin), "/api/v1/exports/"
    body = {"table": "scores", "file_format": "jsonl"}
    started = client.post(f"{address}?dataset=exam", body, content_type="application/json")
    assert started.status_code == 201, started.content
    made = started.json()
    assert (made["status"], made["file"], made["bom"]) == ("queued", None, True)
    again = client.post(f"{address}?dataset=exam", body, content_type="application/json")
    assert again.status_code == 409
    assert export_jobs.work_on_export(made["id"])
    one = client.get(f"{address}{made['id']}/").json()
    assert (one["status"], one["rows_done"], one["rows_total"]) == ("done", 7, 7)
    sent = b"".join(client.get(one["file"]).streaming_content)  # type: ignore[attr-defined]
    assert (len(sent), hashlib.sha256(sent).hexdigest()) == (one["size"], one["sha256"])
    assert len(sent.splitlines()) == 7
    assert [row["id"] for row in client.get(address).json()["results"]] == [made["id"]]
    other = logged_in(lead)
    assert other.get(f"{address}{made['id']}/").status_code == 404
    assert other.get(address).json()["results"] == []
    for query, wrong in (("", body), ("?dataset=exam", {"table": "rates"}), ("?hue=1", body)):
        refused = client.post(address + query, wrong, content_type="application/json")
        assert refused.status_code == 400, (query, wrong)


def test_a_short_file_is_sent_at_once(db: None, admin: User) -> None:
    chosen(run_of(ALPHA), "A")
    sent = {"table": "scores", "file_format": "csv"}
    answer = logged_in(admin).post("/reports/exports/?dataset=exam", sent)
    assert answer["Location"] == "/reports/export/scores.csv?dataset=exam&bom=no"
    file = logged_in(admin).get(answer["Location"])
    assert file.content.startswith(b'"dataset"')
    assert not Export.objects.exists()


def test_every_report_is_a_file_of_the_page(db: None, admin: User) -> None:
    """From the page of cuts, from that of a paper, and from a dataset that no paper is about."""
    chosen(run_of(ALPHA, "gaokao-bench"), "A", "B")
    client = logged_in(admin)
    page = "/reports/exports/?dataset=gaokao-bench&policy=published&by=task&by=year"
    for place in (page, "/reports/?dataset=gaokao-bench"):
        assert 'href="/runs/search/?dataset=gaokao-bench"' in client.get(place).text, "the texts"
    offered = {value for value, _words in client.get(page).context["form"]["table"].field.choices}
    assert offered == {*EVERY_REPORT, *ROWS}
    # Of these, cuts and gains take other keys, and the tables of a paper its name.
    names = ("leakage", "gains", "paper-tables")
    for name, file_format in zip(names, ("xlsx", "jsonl", "csv"), strict=True):
        sent = client.post(page, {"table": name, "file_format": file_format})
        assert sent.status_code == 302, sent.text
        file = client.get(sent["Location"])
        assert file.status_code == 200, (name, file.text)
        assert file["Content-Type"] == MEDIA_TYPES[FileFormat(file_format)]
    cuts = client.post(page, {"table": "cuts", "file_format": "jsonl"})
    rows = [json.loads(line) for line in client.get(cuts["Location"]).content.splitlines()]
    assert {"task", "year"} <= set(rows[0])
    of_paper = client.get(page.replace("by=task&by=year", "paper=gaokao-bench"))
    assert of_paper.context["form"]["table"].value() == "paper-tables"
    chosen(run_of(ALPHA), "A")
    others = client.get("/reports/exports/?dataset=exam").context["form"]["table"].field.choices
    assert "paper-tables" not in dict(others)


@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_stopped_leaves_nothing(
    answers: list[Response], admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wish comes while rows are read, by another connection."""
    work = export_jobs.start_export(SCORES, acting_user=admin)
    with pytest.raises(Conflict):
        export_jobs.start_export(SCORES, acting_user=admin)
    write = exports.write_export

    def slowly(asked: Asked, out: Any, on_rows: Callable[[int], None]) -> Any:
        export_jobs.stop_export(work, acting_user=admin)

        def wait(rows: int) -> None:
            while True:  # until the other connection has read the wish
                on_rows(rows)

        return write(asked, out, wait)

    monkeypatch.setattr(export_jobs, "write_export", slowly)
    export_jobs.work_on_export(work.pk, beat=0.01)
    work.refresh_from_db()
    assert (work.status, work.file) == (Is.STOPPED, "")
    assert list(export_jobs.exports_folder().iterdir()) == []
    monkeypatch.setattr(export_jobs, "write_export", write)
    export_jobs.resume_export(work, acting_user=admin)
    assert export_jobs.work_on_export(work.pk)
    work.refresh_from_db()
    assert (work.status, work.rows_done) == (Is.DONE, 7)
    # A report is read in the snapshot that the export holds, outside of any transaction of Django.
    cuts = {"dataset": "exam", "by": "task"}
    assert logged_in(admin).get("/reports/export/cuts.csv", cuts).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="others do not lock the whole database")
def test_a_beat_that_the_database_refuses_is_left_out(
    answers: list[Response], admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its thread ended by "database is locked", and nobody heard the wish to stop any more."""
    work = export_jobs.start_export(SCORES, acting_user=admin)
    options = {**connection.settings_dict["OPTIONS"], "timeout": 0.05}
    monkeypatch.setitem(connections.settings["default"], "OPTIONS", options)

    def while_locked(asked: Asked, out: Any, on_rows: Callable[[int], None]) -> Any:
        with sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(0.5)
            other.execute("ROLLBACK")
        export_jobs.stop_export(work, acting_user=admin)
        for _time in range(100):
            on_rows(1)
            time.sleep(0.1)
        raise AssertionError("nobody heard the wish to stop")

    monkeypatch.setattr(export_jobs, "write_export", while_locked)
    export_jobs.work_on_export(work.pk, beat=0.01)
    work.refresh_from_db()
    assert (work.status, work.error) == (Is.STOPPED, "")


def test_the_suffix_of_the_file_is_its_format(
    answers: list[Response], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "all.jsonl"
    call_command("export", "responses", "--dataset", "exam", "--output", str(file))
    assert "texts of the replies are not in this table" in capsys.readouterr().out
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["outcome"] for line in lines[:3]] == ["correct", "wrong", "no_answer"]
    about = json.loads(file.with_name("all.jsonl.manifest.json").read_text())
    assert about["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert not list(tmp_path.glob("*.part"))
    with pytest.raises(BadInput, match="choose one of: json"):
        write_export(Asked("gaokao-merged", ReportParams("exam")), io.BytesIO())


def test_a_summary_of_the_benchmark_is_about_one_model(db: None) -> None:
    chosen(run_of(ALPHA), "A")
    chosen(run_of("canary-beta"), "A")
    asked = Asked("gaokao-objective", ReportParams("exam"), "json")
    with pytest.raises(BadInput, match="No response to the tasks of GAOKAO-Bench"):
        write_export(asked, io.BytesIO())
