"""Answers uploaded by page: checked, imported on a confirm, stopped, gone on with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.utils import timezone

from evaluations.imports.services import answer_uploads
from evaluations.models import Judgement, Mark, ObjectiveScore, Response
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import ImportBatch
from questions.models.imports import ImportFile
from questions.services import import_jobs
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task, make_user
from tests.questions.upload_world import sent, zip_of
from tests.questions.upload_world import var as var

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/runs/imports/"
ROOT = Path(__file__).resolve().parents[3]


def answers(*ids: str, **more: object) -> bytes:
    rows = [
        {"dataset": "exam", "task": "mcq", "id": one, "model": "m", "repeat": 1, "text": "A"} | more
        for one in ids
    ]
    return "\n".join(json.dumps(row) for row in rows).encode()


@pytest.fixture
def ids(db: None) -> list[str]:
    task = make_task(make_dataset("exam"), slug="mcq")
    return [make_question(task, key=("A",)).external_id for _ in range(4)]


def worked(batch: ImportBatch) -> ImportBatch:
    assert answer_uploads.work_on_answers(batch.pk)
    assert not import_jobs.work_on_import(batch.pk), "questions leave answers alone"
    batch.refresh_from_db()
    return batch


def test_upload_check_import_and_again(ids: list[str], lead: User, var: Path) -> None:
    client = logged_in(lead)
    both = {"a/x.jsonl": answers(*ids[:3]), "b/x.jsonl": answers(*ids[2:], "nowhere")}
    upload = {"files": [sent("both.zip", zip_of(both))], "source": "", "model": "", "repeat": ""}
    upload |= {"setting": "few-shot", "condition": "five examples"}
    place = client.post(PAGE, upload)["Location"]
    batch = worked(ImportBatch.objects.get())
    assert (batch.status, batch.reader, batch.files_done) == ("checked", "jsonl", 2)
    assert not Response.objects.exists(), "a check writes nothing"
    shown = client.get(place).text
    assert "An import would add 4 responses, 0 marks and 0 judgements" in shown
    assert "1 row has no question" in shown
    assert client.post(f"{place}import/").status_code == 302
    batch = worked(batch)
    assert batch.status == "done"
    assert (batch.counts["responses"], batch.counts["same"]) == (4, 1)
    assert Response.objects.count() == 4
    condition = Response.objects.first().run.condition
    assert (condition.setting, condition.name) == ("few-shot", "five examples")
    assert ObjectiveScore.objects.count() >= 4
    assert not list((var / "imports").iterdir()), "the uploaded files are deleted"
    again = answer_uploads.take_answers(
        *([sent("both.zip", zip_of(both))], ""),
        **{"model": "", "repeat": 1, "acting_user": lead},
        **{"setting": "few-shot", "condition": "five examples"},
    )
    assert worked(again).status == "checked"
    assert "already stored" in client.get(f"{PAGE}{again.pk}/").text
    assert client.get(PAGE).status_code == 200


def test_what_is_not_read_of_an_upload_is_named(ids: list[str], lead: User, var: Path) -> None:
    files = {"a/x.JSONL": answers(*ids[:2]), "b/y.csv": b"id", "z.jsonl": answers("no")}
    zipped = sent("answers.zip", zip_of(files))
    batch = worked(answer_uploads.take_answers([zipped], "", model="", repeat=1, acting_user=lead))
    assert sorted(row.name for row in batch.files.all()) == ["a/x.JSONL", "z.jsonl"]
    found = batch.problems.exclude(code="unmatched").values_list("file", "code")
    assert list(found) == [("b/y.csv", "not_read")]


def test_a_stopped_import_goes_on_with_whole_files(ids: list[str], lead: User, var: Path) -> None:
    files = [sent("a.jsonl", answers(*ids[:2])), sent("b.jsonl", answers(*ids[2:]))]
    batch = worked(answer_uploads.take_answers(files, "", model="", repeat=1, acting_user=lead))
    now = timezone.now()
    import_jobs.confirm_import(batch, acting_user=lead)
    # A worker took it, wrote the first file and was lost.
    stop = ImportBatch.objects.filter(pk=batch.pk)
    stop.update(status="working", worker="lost", heartbeat=now - ImportBatch.lease() * 2)
    assert answer_uploads.look_for_answers() == []
    batch.refresh_from_db()
    assert batch.status == "interrupted"
    import_jobs.resume_import(batch, acting_user=lead)
    assert answer_uploads.look_for_answers() == [batch.pk]
    assert worked(batch).status == "done"
    assert Response.objects.count() == 4
    assert ImportFile.objects.filter(batch=batch, imported_at__isnull=False).count() == 2


def test_marks_and_gradings_come_with_the_name_of_the_model(lead: User, var: Path) -> None:
    from questions.rules.vocabulary import QuestionType

    task = make_task(make_dataset("gaokao-bench"), slug="T", question_type=QuestionType.OPEN_ENDED)
    question = make_question(task, marks=("10",))
    row = {"index": int(question.external_id), "model_output": "text", "correction_score": [8, 6]}
    row |= {"model_correction": "【总分】共7分", "model_correction_score": [7]}
    document = {"keyword": "T", "teacher_model_name": "judge", "example": [row]}
    file = sent("answers.json", json.dumps(document).encode())
    batch = answer_uploads.take_answers([file], "", model="gpt-x", repeat=2, acting_user=lead)
    assert worked(batch).status == "checked"
    import_jobs.confirm_import(batch, acting_user=lead)
    counts = worked(batch).counts
    assert [counts[name] for name in ("responses", "marks", "judgements")] == [1, 2, 1]
    response = Response.objects.get()
    assert (response.run.language_model.name, response.repeat) == ("gpt-x", 2)
    assert (Mark.objects.count(), Judgement.objects.count()) == (2, 1)


def test_what_a_worker_refuses_is_said_on_the_page(
    lead: User, var: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    client = logged_in(lead)
    upload = {"files": [sent("b.zip", zip_of({"b.json": b"{}"}))], "source": "", "model": "m"}
    place = client.post(PAGE, upload, headers={"accept-language": "zh-hans"})["Location"]
    batch = worked(ImportBatch.objects.get())
    assert (batch.status, batch.error, batch.language) == ("failed", "bad_input", "zh-hans")
    assert "gaokao-bench" in batch.refusal
    assert f'lang="zh-hans">{batch.refusal}</p>' in client.get(place).text
    assert not [one for one in caplog.records if one.levelname == "ERROR" or one.exc_info]
    import_jobs.resume_import(batch, acting_user=lead)
    batch.refresh_from_db()
    assert (batch.status, batch.error, batch.refusal, batch.language) == ("queued", "", "", "en")
    for template in (ROOT / "templates").rglob("*.html"):
        text = template.read_text()
        assert "background_work/_refusal.html" in text or "See the log of the worker" not in text


def test_what_cannot_be_taken_and_who_may_not(lead: User, var: Path) -> None:
    client = logged_in(lead)
    upload = {"files": [sent("x.exe", b"MZ")], "source": "", "model": "", "repeat": ""}
    assert client.post(PAGE, upload).status_code == 400
    upload = {"files": [sent("a.jsonl", answers("1"))], "source": "", "model": "", "repeat": "0"}
    assert client.post(PAGE, upload).status_code == 400
    assert not ImportBatch.objects.exists()
    assert logged_in(make_user(Role.CURATOR)).get(PAGE).status_code == 403
