"""Long files hold few of the threads of a web process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common import long_files
from gradeapp.common.long_files import LongFile, place_for_a_file
from gradeapp.common.refusals import Busy
from tests.conftest import logged_in
from tests.factories import make_question, make_response


@pytest.fixture(autouse=True)
def no_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_files, "WAIT", 0.01)


@pytest.mark.django_db
def test_files_that_are_being_read_leave_threads_for_pages(admin: User) -> None:
    """Eight downloads of one person stopped the site: each held a thread for half a minute."""
    make_response(make_question())
    client, address = logged_in(admin), "/runs/search/export/"
    reading = [client.get(address) for _time in range(2)]
    files = (address, "/audit/export/", "/questions/export/", "/questions/problems/export/")
    report = "/api/v1/reports/paper-tables/?paper=gaokao-bench"
    for other in (*files, "/questions/rubrics/export/", report):
        refused = client.get(other)
        assert (refused.status_code, refused["Retry-After"]) == (503, "10")
        assert "Several large files or reports are being made." in refused.text
    assert client.get("/").status_code == 200
    entries = AuditEntry.objects.filter(tag="report.exported", target="responses")
    assert entries.count() == 2, "what is refused is no export"
    for one in reading:
        assert b"".join(one.streaming_content)  # type: ignore[arg-type]
    assert client.get("/questions/export/").status_code == 200
    last = entries.order_by("pk").last()
    assert last is not None
    assert (last.detail["rows"], last.detail["whole"], len(last.detail["sha256"])) == (1, True, 64)


@pytest.mark.django_db
def test_nothing_is_made_for_the_headers_alone(admin: User) -> None:
    client = logged_in(admin)
    entries = AuditEntry.objects.count()
    with place_for_a_file(), place_for_a_file():
        for address in ("/runs/search/export/", "/audit/export/", "/questions/export/"):
            headers = client.head(address)
            assert (headers.status_code, headers.content) == (200, b"")
            assert headers["Content-Disposition"].startswith("attachment; filename=")
    assert AuditEntry.objects.count() == entries


def test_a_place_is_given_back_once_however_a_file_ends() -> None:
    def parts() -> Iterator[bytes]:
        yield b"a"
        raise OSError("gone")

    def refused() -> Iterator[bytes]:
        raise ValueError("no")

    for _time in range(3):
        assert list(LongFile(lambda: iter([b"a", b"b"]))) == [b"a", b"b"]
        with pytest.raises(OSError, match="gone"):
            list(LongFile(parts))
        with pytest.raises(ValueError, match="no"):
            LongFile(refused)
        one = LongFile(parts)
        next(one)
        one.close()
        one.close()
        with pytest.raises(ValueError, match="no"), place_for_a_file():
            raise ValueError("no")
    with place_for_a_file(), place_for_a_file(), pytest.raises(Busy), place_for_a_file():
        pass
