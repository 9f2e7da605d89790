"""The pages of imports: upload, look, import; what is too large or not for this person."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from questions.models import ImportBatch, ImportProblem, Question
from questions.models.imports import ImportFile
from questions.services import import_jobs, uploads
from questions.services.gate import check_items
from questions.tasks import work_on_import
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task
from tests.questions.upload_world import lines, sample_zip, sent
from tests.questions.upload_world import var as var

PAGE = "/questions/imports/"


@pytest.fixture
def messages_sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids that were sent to the workers."""
    sent_ids: list[int] = []
    monkeypatch.setattr(work_on_import, "apply_async", lambda ids, **_: sent_ids.extend(ids))
    return sent_ids


def post(user: User, *files: SimpleUploadedFile, **fields: Any) -> Any:
    return logged_in(user).post(PAGE, {"files": list(files), "source": "", **fields})


@pytest.mark.django_db(transaction=True)
def test_upload_check_import(curator: User, var: Path, messages_sent: list[int]) -> None:
    key = str(logged_in(curator).get(PAGE).context["form"]["key"].value())
    for _ in range(2):  # the same form, sent again
        answer = post(curator, sent("exam.zip", sample_zip()), key=key)
        assert len(list((var / "imports").glob("*"))) == 1
    batch = ImportBatch.objects.get()
    assert answer["Location"] == f"{PAGE}{batch.pk}/"
    assert messages_sent == [batch.pk] * 2
    import_jobs.work_on_import(batch.pk)
    page = logged_in(curator).get(f"{PAGE}{batch.pk}/").content.decode()
    assert "An import would add 90 questions and change 0" in page
    assert "physics.jsonl" in page
    assert logged_in(curator).post(f"{PAGE}{batch.pk}/import/").status_code == 302
    assert messages_sent == [batch.pk] * 3
    import_jobs.work_on_import(batch.pk)
    page = logged_in(curator).get(PAGE).content.decode()
    assert "exam.zip" in page
    assert "chen" in page
    assert ">90<" in page
    assert Question.objects.count() == 90


@pytest.mark.django_db(transaction=True)
def test_several_files_at_once(curator: User, var: Path, messages_sent: list[int]) -> None:
    post(curator, sent("a.jsonl", lines(1, 2)), sent("b.jsonl", lines(3, 4)))
    import_jobs.work_on_import(messages_sent[0])
    assert ImportFile.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_uploads_of_one_person_that_wait_are_limited(
    curator: User, var: Path, messages_sent: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_UPLOADS", 2)
    answers = [post(curator, sent("a.jsonl", lines(n, n))).status_code for n in range(1, 4)]
    assert answers == [302, 302, 400]
    assert len(list((var / "imports").glob("*"))) == 2
    first = ImportBatch.objects.order_by("pk").first()
    assert first is not None
    import_jobs.work_on_import(first.pk)
    assert logged_in(curator).post(f"{PAGE}{first.pk}/discard/").status_code == 302
    assert post(curator, sent("a.jsonl", lines(3, 3))).status_code == 302


@pytest.mark.django_db
def test_what_cannot_be_taken_is_said_beside_the_field(curator: User, var: Path) -> None:
    answer = post(curator, sent("virus.exe", b"MZ"))
    assert answer.status_code == 400
    assert "not a .json, .jsonl" in answer.content.decode()
    empty = logged_in(curator).post(PAGE, {"source": ""})
    assert empty.status_code == 400
    assert not ImportBatch.objects.exists()
    assert not list((var / "imports").glob("*"))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["../../etc/passwd.jsonl", "..\\..\\x.jsonl", "x" * 300 + ".jsonl"]
)
def test_the_name_of_a_file_leads_nowhere(curator: User, var: Path, name: str) -> None:
    post(curator, SimpleUploadedFile(name, lines(1, 1)), source="jsonl")
    files = [file for file in var.rglob("*") if file.is_file()]
    assert all(file.parent.parent == var / "imports" for file in files)
    assert not any(".." in str(file) for file in files)


@pytest.mark.django_db
def test_a_teacher_a_lead_and_a_stranger_upload_nothing(
    teacher: User, lead: User, var: Path
) -> None:
    for user in (teacher, lead):
        assert post(user, sent("a.jsonl", lines(1, 1))).status_code == 403
    assert Client().post(PAGE, {"files": sent("a.jsonl", b"{}")}).status_code == 302
    assert "Check files" not in logged_in(lead).get(PAGE).content.decode()


@pytest.mark.django_db
def test_200_mb_are_refused_unread_in_a_sentence(curator: User, var: Path) -> None:
    class Zeros:
        """200 MB that nobody has to hold; counts what is read of it."""

        def __init__(self) -> None:
            self.left = 200 << 20
            self.largest = 0

        def read(self, size: int = -1) -> bytes:
            size = self.left if size < 0 else min(size, self.left)
            self.left -= size
            self.largest = max(self.largest, size)
            return bytes(size)

        readline = read

    body = Zeros()
    answer = logged_in(curator).generic(
        "POST",
        PAGE,
        content_type="multipart/form-data; boundary=x",
        **{"wsgi.input": body, "CONTENT_LENGTH": str(200 << 20)},
    )
    assert answer.status_code == 413
    assert "larger than the limit of 100 MB" in answer.content.decode()
    assert body.left == 0, "it was read to its end, so that a browser sees the sentence"
    assert body.largest <= 1 << 16, "and never held"
    assert not list(var.rglob("*.upload"))


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/login/", "/questions/imports/999/stop/", "/api/v1/marks/"])
def test_no_other_page_takes_large_requests(curator: User, address: str) -> None:
    body = b"x" * (5 << 20)
    answer = logged_in(curator).post(address, body, content_type="text/plain")
    assert answer.status_code == 413
    assert "limit of 4 MB" in answer.content.decode()


@pytest.mark.django_db
def test_a_stranger_may_not_send_much_to_the_upload_page() -> None:
    body = b"x" * (5 << 20)
    assert Client().post(PAGE, body, content_type="text/plain").status_code == 413


@pytest.mark.django_db
def test_too_many_files_are_told_to_come_as_a_zip(curator: User, var: Path) -> None:
    answer = post(curator, *(sent(f"{n}.jsonl", b"{}") for n in range(101)))
    assert answer.status_code == 400
    assert "At most 100 files" in answer.content.decode()


@pytest.mark.django_db
def test_a_page_shows_progress_time_left_and_a_stop(curator: User) -> None:
    started = timezone.now() - timedelta(seconds=30)
    batch = ImportBatch.objects.create(
        kind="questions",
        source="agieval.zip",
        reader="agieval",
        folder="x",
        status="working",
        confirmed_at=started,
        started_at=started,
        heartbeat=timezone.now(),
        files_done=5,
        files_total=21,
        bytes_done=1000,
        bytes_total=4000,
    )
    page = logged_in(curator).get(f"{PAGE}{batch.pk}/").content.decode()
    assert 'aria-valuenow="5"' in page
    assert "of 21 files" in page
    assert "2 min" in page, "30 s for a quarter: 90 s are left"
    assert f"{PAGE}{batch.pk}/stop/" in page
    progress = f"{PAGE}{batch.pk}/progress/?state=working"
    assert 'hx-trigger="every 1s"' in logged_in(curator).get(progress).content.decode()
    assert logged_in(curator).post(f"{PAGE}{batch.pk}/stop/").status_code == 302
    batch.refresh_from_db()
    assert batch.stop_asked
    assert AuditEntry.objects.filter(tag="import.stopped").count() == 1
    ImportBatch.objects.update(status="stopped")
    refreshed = logged_in(curator).get(progress)
    assert refreshed["HX-Refresh"] == "true"


@pytest.mark.django_db
def test_problems_are_traced_to_file_and_row(
    curator: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    batch = ImportBatch.objects.create(kind="questions", source="x", reader="jsonl")
    ImportProblem.objects.bulk_create(
        ImportProblem(batch=batch, file="a.jsonl", row=n, code="wrong_type", text="<b>No.</b>")
        for n in range(1, 151)
    )
    browser = logged_in(curator)
    with django_assert_max_num_queries(15):
        page = browser.get(f"{PAGE}{batch.pk}/").content.decode()
    assert "a.jsonl" in page
    assert "a value of the wrong type" in page
    assert "&lt;b&gt;No.&lt;/b&gt;" in page
    assert "1–100 of 150" in page
    assert "101–150 of 150" in browser.get(f"{PAGE}{batch.pk}/?page=2").content.decode()


@pytest.mark.django_db
def test_there_is_no_such_import(curator: User) -> None:
    for address in ("", "progress/"):
        assert logged_in(curator).get(f"{PAGE}999/{address}").status_code == 404
    for deed in ("import", "stop", "resume", "discard"):
        assert logged_in(curator).post(f"{PAGE}999/{deed}/").status_code == 404


@pytest.mark.django_db
def test_a_chinese_page_says_what_was_found_in_chinese(curator: User) -> None:
    batch = ImportBatch.objects.create(kind="questions", source="x", reader="jsonl")
    texts = ("Key 2 is E, offered are ABCD.", "What a later version says.")
    for text in texts:
        ImportProblem.objects.create(batch=batch, file="a.jsonl", row=7, code="x_y", text=text)
    browser = logged_in(curator)
    page = browser.get(f"{PAGE}{batch.pk}/", headers={"accept-language": "zh-CN"}).text
    assert "第2个参考答案是 E，选项为 ABCD。" in page
    assert f'title="{texts[0]}"' in page, "the sentence of the log is at hand"
    assert f'lang="en">{texts[1]}' in page
    assert texts[0] in browser.get(f"{PAGE}{batch.pk}/", headers={"accept-language": "en"}).text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ({"new": 0, "changed": 0, "same": 2811}, "nothing new"),
        ({"new": 1, "changed": 0, "same": 2810}, "imported"),
        ({"new": 0, "changed": 1, "same": 0}, "imported"),
        ({}, "nothing imported"),
        ({"responses": 3, "marks": 0}, "imported"),
    ],
)
def test_the_list_says_what_an_import_brought(
    curator: User, counts: dict[str, int], said: str
) -> None:
    ImportBatch.objects.create(kind="questions", source="x", status="done", counts=counts)
    page = logged_in(curator).get(PAGE).content.decode()
    assert f">{said}</span>" in page


@pytest.mark.django_db
def test_an_upload_of_which_all_was_refused_is_not_called_checked(curator: User) -> None:
    batch = ImportBatch.objects.create(
        kind="questions", source="x", reader="jsonl", status="checked", files_done=1, files_total=1
    )
    ImportFile.objects.create(batch=batch, name="a.jsonl", refused=True)
    client = logged_in(curator)
    page = client.get(f"{PAGE}{batch.pk}/").text
    for text in (client.get(PAGE).text, page):
        assert "nothing imported</span>" in text
        assert "checked</span>" not in text
    assert 'class="failed" x="0" width="1000"' in page
    assert "of 1 file<" in page
    ImportFile.objects.create(batch=batch, name="b.jsonl", new=2)
    assert "checked</span>" in client.get(PAGE).text


@pytest.mark.django_db
def test_a_second_import_says_that_nothing_was_new(curator: User) -> None:
    batch = ImportBatch.objects.create(
        kind="questions", source="x", reader="jsonl", status="done", confirmed_at=timezone.now()
    )
    ImportFile.objects.create(batch=batch, name="a.jsonl", same=2811, imported_at=timezone.now())
    page = logged_in(curator).get(f"{PAGE}{batch.pk}/").content.decode()
    assert "Nothing new: the bank already has the 2,811 questions read, unchanged." in page


@pytest.mark.django_db
@pytest.mark.parametrize(("status", "says_so"), [("checked", True), ("done", False)])
def test_only_a_check_tells_what_will_be_quarantined(
    curator: User, status: str, says_so: bool
) -> None:
    batch = ImportBatch.objects.create(kind="questions", source="x", reader="jsonl", status=status)
    ImportFile.objects.create(batch=batch, name="a.jsonl", same=2811, quarantined=2)
    page = logged_in(curator).get(f"{PAGE}{batch.pk}/").text
    assert ("2 questions will be quarantined" in page) is says_so
    assert ("None." in page) is not says_so


@pytest.mark.django_db
def test_what_the_gate_holds_back_stands_beside_the_files(curator: User) -> None:
    task = make_task(make_dataset("exam"))
    batch = ImportBatch.objects.create(
        kind="questions", source="exam", dataset=task.dataset, counts={"new": 1}
    )
    address = f"{PAGE}{batch.pk}/"
    assert "Data quality" not in logged_in(curator).get(address).text
    question = make_question(task, key=("F",))
    check_items([question.pk])
    page = logged_in(curator).get(address).text
    assert "1 question of exam is quarantined" in page
    assert (
        "/questions/problems/?dataset=exam&amp;quarantines=yes&amp;code=key_outside_options" in page
    )
    assert "None: every row could be read." in page
