"""T099, T100, T103: lines of the log, filters of templates, and the version of Django."""

from __future__ import annotations

import logging
import re
import sys

import django
import pytest
from django.conf import settings
from django.test import Client

from gradeapp.accounts.links import invite, reset_link
from gradeapp.accounts.models import User
from gradeapp.common.masking import MaskingFormatter
from gradeapp.log_lines import LineFormatter
from tests.worker_processes import ROOT

SLOW_FILTERS = re.compile(
    r"\|\s*(urlize|urlizetrunc|truncatewords_html|truncatechars_html|striptags)"
)


@pytest.mark.django_db
def test_an_address_makes_no_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "django.request"):
        assert Client().get("/%0a%1b[31mFAKE-ENTRY").status_code == 404
    lines = [record.getMessage() for record in caplog.records if "FAKE" in record.getMessage()]
    assert lines
    assert not any("\n" in line or "\x1b" in line for line in lines)


def test_the_log_holds_no_link_that_works(
    caplog: pytest.LogCaptureFixture, admin: User, teacher: User
) -> None:
    """Refusals name the address; whoever reads the log would set the password with it."""
    reset, invited = reset_link(teacher, acting_user=admin), invite("Li", [], acting_user=admin)
    paths = [f"/reset/{reset}/", f"/invitation/{invited}/"]
    with caplog.at_level(logging.WARNING, "django"):
        for path in paths:
            client = Client(enforce_csrf_checks=True)
            assert client.post(path).status_code == 403
            assert Client().get(path).status_code == 200
            assert Client().get(f"{path}more").status_code == 404
            referer = {"referer": f"https://other.example{path}"}
            assert client.post("/login/", secure=True, headers=referer).status_code == 403
    log = "\n".join(MaskingFormatter().format(record) for record in caplog.records)
    assert log.count("/reset/***") == log.count("/invitation/***") == 3
    assert reset not in log
    assert invited not in log


def test_a_request_that_nobody_can_read_is_one_short_line(
    db: None, caplog: pytest.LogCaptureFixture
) -> None:
    """A stranger sends as many as they like."""
    fields = {"content_type": "application/x-www-form-urlencoded", "data": "a=&" * 2001}
    parts = {"content_type": "multipart/form-data; boundary=", "data": b"--x"}
    with caplog.at_level(logging.WARNING, "django"):
        answers = [
            Client(headers={"host": "evil.example"}).get("/login/"),
            Client().post("/login/", **fields),
            Client(raise_request_exception=False).post("/login/", **parts),
            Client().get("/" + "a" * 30_000),
        ]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 404]
    lines = [LineFormatter().format(record) for record in caplog.records]
    assert any(record.exc_info for record in caplog.records)
    assert not [line for line in lines if "\n" in line or len(line) > 2_100]
    assert any(line.endswith("... (30012 characters)") for line in lines)


def test_a_fault_of_ours_keeps_its_traceback() -> None:
    assert settings.LOGGING["formatters"]["line"]["()"] == "gradeapp.log_lines.LineFormatter"
    try:
        raise ValueError("x" * 3_000)
    except ValueError:
        record = logging.LogRecord("n", logging.ERROR, "", 1, "failed", None, sys.exc_info())
    first, *_rest, last = LineFormatter().format(record).split("\n")
    assert first == "failed"
    assert "ValueError" in last
    assert last.endswith("characters)")


def test_no_template_uses_a_filter_that_a_text_can_slow_down() -> None:
    for file in (ROOT / "templates").rglob("*.html"):
        assert not SLOW_FILTERS.search(file.read_text(encoding="utf-8")), file.name


def test_django_is_a_patched_release_with_long_support() -> None:
    pinned = re.search(r"^Django==([\d.]+)$", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned
    assert pinned[1] == django.get_version()
    assert django.VERSION[:2] == (5, 2)
    assert django.VERSION[2] >= 16
