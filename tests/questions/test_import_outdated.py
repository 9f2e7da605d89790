"""An import does what its check said, or is checked and confirmed again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from django.utils import timezone

from gradeapp.accounts.models import User
from questions.models import ImportBatch, Question
from questions.rules.vocabulary import Decision
from questions.services.decisions import Repair, decide
from questions.services.import_jobs import confirm_import, resume_import, work_on_import
from questions.services.imports import import_questions
from questions.services.labels import set_labels
from questions.services.reported import report_problem
from questions.services.uploads import take_upload
from tests.conftest import logged_in
from tests.questions.upload_world import line, lines, sent
from tests.questions.upload_world import var as var

pytestmark = pytest.mark.django_db

OTHER = line(9, task="Other").encode()
OUTDATED = "The bank has changed since the check: confirm again what the file changes now."


@pytest.fixture
def bank(tmp_path: Path, var: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three questions with the key A, and a folder for what others import."""
    monkeypatch.setattr("questions.views.imports.ask_for_import", lambda pk: None)
    monkeypatch.setattr("questions.api.imports.ask_for_import", lambda pk: None)
    folder = tmp_path / "others"
    folder.mkdir()
    others_import(folder, lines(1, 3))
    return folder


def others_import(folder: Path, content: bytes) -> None:
    (folder / "exam.jsonl").write_bytes(content)
    import_questions("jsonl", folder)


def others_correct(folder: Path, curator: User) -> None:
    """The source has the key B by now, and a curator repairs that of the first question again."""
    others_import(folder, lines(1, 3, answer=["B"]))
    first = Question.objects.get(external_id="p-1")
    problem = report_problem(first, "the stem is wrong", quarantines=False, acting_user=curator)
    repair = Repair(stem="Which is the first?\nA. one\nB. two")
    decide(problem, Decision.REPAIR, "misprint", acting_user=curator, repair=repair)


def checked(curator: User) -> ImportBatch:
    """The files of the source from before, one with a question more, looked at."""
    files = [sent("exam.jsonl", lines(1, 4)), sent("other.jsonl", OTHER)]
    return worked(take_upload(files, "jsonl", acting_user=curator))


def worked(batch: ImportBatch) -> ImportBatch:
    assert work_on_import(batch.pk)
    batch.refresh_from_db()
    return batch


def keys() -> str:
    known = Question.objects.filter(task__slug="Physics_MCQs").order_by("external_id")
    return "".join(key for (key,) in known.values_list("current__answer_key", flat=True))


def said(batch: ImportBatch) -> list[str]:
    return [f"{problem.file}: {problem.text}" for problem in batch.problems.order_by("pk")]


NOW_CHANGED = [
    "exam.jsonl: Question p-1 of Physics_MCQs differs in: answer_key.",
    "exam.jsonl: What a person corrected in question p-1 of Physics_MCQs counts no more, "
    "as the source counts: stem.",
    "exam.jsonl: Question p-2 of Physics_MCQs differs in: answer_key.",
    "exam.jsonl: Question p-3 of Physics_MCQs differs in: answer_key.",
]


def test_what_was_checked_before_others_changed_the_bank_is_checked_again(
    bank: Path, curator: User
) -> None:
    batch = checked(curator)
    client, address = logged_in(curator), f"/questions/imports/{batch.pk}/"
    assert "add 2 questions and change 0; 3 would stay the same" in client.get(address).text
    others_correct(bank, curator)
    seen = {"seen": client.get(address).context["seen"]}
    page = client.post(f"{address}import/", seen, follow=True)
    assert page.redirect_chain == [(address, 302)]
    assert "The files are being checked again" in page.text
    batch = worked(batch)
    assert (batch.status, batch.confirmed_at, keys()) == ("checked", None, "BBB")
    assert said(batch) == NOW_CHANGED
    assert "add 2 questions and change 3; 0 would stay the same" in client.get(address).text

    # Who is shown that and means it imports it; a page from before, or a second click, does not.
    assert client.post(f"{address}import/", seen).status_code == 409
    new = client.get(address)
    assert f'name="seen" value="{new.context["seen"]}"' in new.text
    assert client.post(f"{address}import/", {"seen": new.context["seen"]}).status_code == 302
    batch = worked(batch)
    assert (batch.status, batch.counts["new"], batch.counts["changed"]) == ("done", 2, 3)
    assert keys() == "AAAA"


def test_the_api_answers_409_and_checks_again(bank: Path, curator: User) -> None:
    batch = checked(curator)
    others_correct(bank, curator)
    client, address = logged_in(curator), f"/api/v1/imports/{batch.pk}/"
    refused = client.post(f"{address}confirm/")
    assert (refused.status_code, refused.json()["code"]) == (409, "check_outdated")
    assert client.get(address).json()["status"] == "queued"
    worked(batch)
    now = client.get(address).json()
    assert (now["status"], now["totals"]["changed"], keys()) == ("checked", 3, "BBB")
    assert client.post(f"{address}confirm/").status_code == 200


def test_a_bank_that_changes_after_the_confirmation_leaves_out_that_file_alone(
    bank: Path, curator: User
) -> None:
    batch = checked(curator)
    assert confirm_import(batch, acting_user=curator)
    others_correct(bank, curator)
    batch = worked(batch)
    assert (batch.status, batch.counts["new"], keys()) == ("checked", 1, "BBB")
    assert Question.objects.filter(task__slug="Other").exists()
    assert said(batch) == [f"exam.jsonl: {OUTDATED}", *NOW_CHANGED]
    files = batch.files.order_by("name").values_list("name", "new", "changed", "refused")
    assert list(files) == [("exam.jsonl", 1, 3, False), ("other.jsonl", 1, 0, False)]
    client, address = logged_in(curator), f"/questions/imports/{batch.pk}/"
    page = client.get(address).text
    assert "files that would change other questions now, or other parts of them" in page
    assert f'action="{address}import/"' in page
    client.post(f"{address}import/")
    batch = worked(batch)
    assert (batch.status, batch.counts["changed"], keys()) == ("done", 3, "AAAA")
    assert said(batch) == NOW_CHANGED


def test_going_on_with_a_stopped_import_confirms_nothing(bank: Path, curator: User) -> None:
    batch = checked(curator)
    confirm_import(batch, acting_user=curator)
    others_correct(bank, curator)

    def clock() -> datetime:
        """Somebody asks to stop as soon as the worker has the import."""
        ImportBatch.objects.filter(pk=batch.pk, status="working").update(stop_asked=True)
        return timezone.now()

    assert work_on_import(batch.pk, clock=clock)
    batch.refresh_from_db()
    assert (batch.status, batch.files_done) == ("stopped", 1)
    resume_import(batch, acting_user=curator)
    batch = worked(batch)
    assert (batch.status, keys()) == ("checked", "BBB")


def test_an_imported_file_that_others_change_before_the_rest_stays_theirs(
    bank: Path, curator: User
) -> None:
    batch = take_upload(
        [sent("a.jsonl", lines(1, 3, answer=["B"])), sent("other.jsonl", OTHER)],
        "jsonl",
        acting_user=curator,
    )
    confirm_import(worked(batch), acting_user=curator)

    def clock() -> datetime:
        ImportBatch.objects.filter(pk=batch.pk, status="working").update(stop_asked=True)
        return timezone.now()

    assert work_on_import(batch.pk, clock=clock)
    assert keys() == "BBB"
    others_import(bank, lines(1, 3))
    batch.refresh_from_db()
    resume_import(batch, acting_user=curator)
    assert (worked(batch).status, keys()) == ("checked", "AAA")


def test_what_changes_nothing_of_the_check_needs_no_other(bank: Path, curator: User) -> None:
    batch = checked(curator)
    person = {"ability_branch": "understanding", "knowledge": "", "difficulty": 3, "modal": "text"}
    set_labels(Question.objects.get(external_id="p-1"), person, acting_user=curator)
    others_import(bank, line(1, task="Third").encode())
    assert confirm_import(batch, acting_user=curator)
    others_import(bank, lines(4, 4))  # It brings the same new question.
    batch = worked(batch)
    assert (batch.status, batch.counts["new"], batch.counts["same"]) == ("done", 1, 4)
