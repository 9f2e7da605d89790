"""The API of imports: upload, look, import; the checks and the sentences of the page."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from gradeapp.accounts.models import User
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.tokens import make_token, revoke_token
from gradeapp.audit.models import AuditEntry
from questions.models import ImportBatch, Question
from questions.services import import_jobs
from questions.tasks import work_on_import
from tests.conftest import logged_in
from tests.questions.upload_world import lines, sent, zip_of
from tests.questions.upload_world import var as var

API = "/api/v1/imports/"


@pytest.fixture
def messages_sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids that were sent to the workers."""
    sent_ids: list[int] = []
    monkeypatch.setattr(work_on_import, "apply_async", lambda ids, **_: sent_ids.extend(ids))
    return sent_ids


def post(user: User, *files: SimpleUploadedFile, **fields: Any) -> Any:
    return logged_in(user).post(API, {"files": list(files), **fields})


def do(user: User, deed: str, pk: int) -> Any:
    return logged_in(user).post(f"{API}{pk}/{deed}/")


def look(user: User, pk: int) -> Any:
    return logged_in(user).get(f"{API}{pk}/").json()


@pytest.mark.django_db(transaction=True)
def test_upload_check_confirm(curator: User, var: Path, messages_sent: list[int]) -> None:
    broken = lines(4, 4) + b"\n{not json"
    files = {"exam/a.jsonl": lines(1, 3), "exam/b.jsonl": broken}
    answer = post(curator, sent("exam.zip", zip_of(files)))
    assert answer.status_code == 201
    pk = answer.json()["id"]
    assert (answer.json()["status"], answer.json()["reader"]) == ("queued", "jsonl")
    assert messages_sent == [pk]
    import_jobs.work_on_import(pk)
    checked = look(curator, pk)
    assert checked["status"] == "checked"
    sums = {"files": 2, "new": 3, "same": 0, "changed": 0, "quarantined": 0, "refused": 1}
    assert checked["totals"] == sums
    assert checked["counts"] == {}, "a check writes nothing"
    assert not Question.objects.exists()
    (problem,) = logged_in(curator).get(f"{API}{pk}/problems/").json()["results"]
    assert (problem["file"], problem["row"], problem["fatal"]) == ("b.jsonl", 2, True)
    assert do(curator, "confirm", pk).json()["status"] == "queued"
    assert messages_sent == [pk, pk]
    import_jobs.work_on_import(pk)
    done = look(curator, pk)
    assert (done["status"], done["counts"]["new"]) == ("done", 3)
    assert Question.objects.count() == 3
    assert do(curator, "confirm", pk).status_code == 409
    tags = AuditEntry.objects.filter(actor=curator).values_list("tag", flat=True)
    assert set(tags) >= {"questions.uploaded", "questions.imported"}


@pytest.mark.django_db(transaction=True)
def test_stop_resume_discard(curator: User, var: Path, messages_sent: list[int]) -> None:
    pk = post(curator, sent("a.jsonl", lines(1, 2)), source="jsonl").json()["id"]
    assert do(curator, "stop", pk).json()["status"] == "stopped"
    assert do(curator, "stop", pk).status_code == 409
    assert do(curator, "resume", pk).json()["status"] == "queued"
    assert messages_sent == [pk, pk]
    import_jobs.work_on_import(pk)
    assert do(curator, "resume", pk).status_code == 409
    assert do(curator, "discard", pk).json()["status"] == "discarded"
    assert not list((var / "imports").iterdir())
    refused = do(curator, "discard", pk)
    assert refused.status_code == 409
    assert refused.json()["detail"] == "These files are in use or already deleted."
    assert not Question.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "fields", "code"),
    [
        ("virus.exe", b"MZ", {}, "wrong_kind"),
        ("a.zip", b"PK\x03\x04 is all", {}, "broken_zip"),
        ("a.zip", zip_of({"../../a.jsonl": b"{}"}), {}, "unsafe_name"),
        ("a.json", b"[]", {}, "not_recognised"),
        ("a.jsonl", lines(1, 1), {"dataset": "exam"}, "bad_input"),
    ],
)
def test_what_cannot_be_taken_is_refused_whole(
    curator: User, var: Path, name: str, content: bytes, fields: dict[str, str], code: str
) -> None:
    answer = post(curator, sent(name, content), **fields)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert not ImportBatch.objects.exists()
    assert not list(var.glob("imports/*"))


@pytest.mark.django_db
def test_what_is_no_upload_is_refused(curator: User, var: Path) -> None:
    refused = logged_in(curator).post(API, {"source": "jsonl"}).json()
    assert refused["files"] == ["This field is required."]
    assert (refused["field"], refused["code"]) == ("files", "bad_input")
    assert post(curator, sent("a.jsonl", b"{}"), source="magic").status_code == 400
    assert logged_in(curator).post(API, {"files": "a.jsonl"}).status_code == 400
    assert logged_in(curator).post(API, {}, content_type="application/json").status_code == 415
    broken = logged_in(curator).post(API, b"x", content_type="multipart/form-data")
    assert broken.json()["detail"] == "The form could not be read. Send it again."
    many = post(curator, *(sent(f"{n}.jsonl", b"{}") for n in range(101)))
    assert (many.status_code, many.json()["code"]) == (400, "too_many_files")
    assert not ImportBatch.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_only_a_curator_may_send_much(
    curator: User, lead: User, var: Path, messages_sent: list[int], settings: Settings
) -> None:
    large = zip_of({"a.jsonl": lines(1, 1)}) + bytes(5 << 20)
    assert post(lead, sent("a.zip", large)).status_code == 413
    assert post(lead, sent("a.jsonl", lines(1, 1))).status_code == 403
    wide = lines(1, 1, stem="x" * (5 << 20))
    assert post(curator, sent("a.jsonl", wide), source="jsonl").status_code == 201
    settings.IMPORT_MAX_UPLOAD_MB = 5
    over = post(curator, sent("a.jsonl", wide), source="jsonl")
    assert over.status_code == 413
    assert over.json()["detail"].startswith("The upload is larger than the limit of 5 MB")


@pytest.mark.django_db(transaction=True)
def test_a_script_may_send_what_its_person_may(
    curator: User, lead: User, var: Path, messages_sent: list[int]
) -> None:
    wide = lines(1, 1, stem="x" * (5 << 20))

    def by_token(user: User, *scopes: Scope, revoked: bool = False) -> int:
        row, token = make_token(user, name="mine", scopes=scopes, days=1, acting_user=user)
        if revoked:
            revoke_token(user, row.pk, acting_user=user)
        form = {"files": [sent("a.jsonl", wide)], "source": "jsonl"}
        answer = Client().post(API, form, headers={"Authorization": f"Bearer {token}"})
        return int(answer.status_code)

    assert by_token(curator, Scope.EDIT) == 201
    assert by_token(curator, Scope.READ) == 413, "a token for something else"
    assert by_token(curator, Scope.EDIT, revoked=True) == 413
    assert by_token(lead, Scope.EDIT) == 413, "its person may not"
    assert ImportBatch.objects.count() == 1


@pytest.mark.django_db
def test_without_the_token_nothing_is_uploaded(curator: User, var: Path) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(curator)
    answer = browser.post(API, {"files": sent("a.jsonl", lines(1, 1)), "source": "jsonl"})
    assert answer.status_code == 403
    batch = ImportBatch.objects.create(kind="questions", source="x", folder="x", status="checked")
    assert browser.post(f"{API}{batch.pk}/confirm/").status_code == 403
    assert ImportBatch.objects.get().status == "checked"


@pytest.mark.django_db
def test_who_looks_learns_that_the_worker_is_gone(curator: User) -> None:
    silent = timezone.now() - ImportBatch.lease() - timedelta(seconds=1)
    batch = ImportBatch.objects.create(
        kind="questions", source="x", status="working", heartbeat=silent
    )
    seen = look(curator, batch.pk)
    assert (seen["status"], seen["error"]) == ("interrupted", "worker_lost")


@pytest.mark.django_db
@pytest.mark.parametrize("deed", ["confirm", "stop", "resume", "discard"])
def test_there_is_no_such_import(curator: User, deed: str) -> None:
    assert do(curator, deed, 999).status_code == 404
