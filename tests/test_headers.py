"""Headers that every answer carries, and where a login may lead: threats T031, T047 to T053."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from gradeapp.accounts.models import User
from tests.conftest import logged_in

ROOT = Path(__file__).resolve().parent.parent
ADDRESSES = ["/", "/login/", "/no-such-page/", "/questions/", "/audit/", "/api/v1/questions/"]


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_answer_has_the_policy_and_no_frame(
    client: Client, curator: User, address: str
) -> None:
    for browser in (client, logged_in(curator)):
        response = browser.get(address)
        policy = response["Content-Security-Policy"]
        rules = {rule.strip() for rule in policy.split(";")}
        assert "script-src 'self'" in rules
        assert "style-src 'self'" in rules
        assert "frame-ancestors 'none'" in policy
        assert not re.search(r"unsafe-|nonce-|data:|\*", policy)
        assert response["X-Frame-Options"] == "DENY"
    if response.status_code == 200:
        assert "no-store" in response["Cache-Control"]


def test_no_address_is_left_out_of_the_policy() -> None:
    assert set(settings.CONTENT_SECURITY_POLICY) == {"DIRECTIVES"}
    assert '"historyCacheSize":0' in (ROOT / "templates/base_plain.html").read_text()


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https:evil.example", "https://evil.example/", "\r\nSet-Cookie: a=b"],
)
def test_a_login_leads_to_this_site_only(curator: User, target: str) -> None:
    response = logged_in(curator).get("/login/", {"next": target})
    assert response.status_code == 302
    assert response["Location"].startswith("/")
    assert not response["Location"].startswith("//")
    assert "Set-Cookie" not in response["Location"]


def test_text_becomes_html_in_one_module() -> None:
    """``mark_safe`` stands in the renderer alone; templates have no ``safe`` (test_design)."""
    places = {
        file.relative_to(ROOT).as_posix()
        for app in ("gradeapp", "questions", "evaluations")
        for file in (ROOT / app).rglob("*.py")
        if re.search(r"\bmark_safe\(", file.read_text(encoding="utf-8"))
    }
    assert places == {"gradeapp/rendering/render.py"}


@pytest.mark.django_db
@pytest.mark.parametrize("key", ['"abcdefgh\\000abc"', "abcdefgh abc", "abcdefgh.abc"])
def test_a_cookie_that_names_no_session_reaches_no_database(client: Client, key: str) -> None:
    """PostgreSQL refuses NUL, so that anybody could have a page answer 500."""
    sent = {"HTTP_COOKIE": f"{settings.SESSION_COOKIE_NAME}={key}"}
    with CaptureQueriesContext(connection) as asked:
        for address in ("/", "/login/", "/api/v1/questions/"):
            assert client.get(address, **sent).status_code < 500
    assert not [one for one in asked.captured_queries if "abcdefgh" in one["sql"]]
