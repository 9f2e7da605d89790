"""Errors that no view expects: a page or JSON without a secret, 503 where the database is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import OperationalError, connection
from django.test import Client, RequestFactory, override_settings
from django.test.client import MULTIPART_CONTENT

from gradeapp.accounts.models import User
from gradeapp.request_headers import REFUSED, checked_headers, is_utf_8
from gradeapp.wsgi import application
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round

FORM = "multipart/form-data; boundary=x"
CHARSETS = ("punycode", "idna", "undefined", "zlib_codec", "rot13", "utf-16", "gbk", "nonsense")
SECRET = "SELECT password FROM /srv/secret"


def failing(error: Exception) -> Callable[..., NoReturn]:
    """A wrapper of every statement that raises *error* instead."""

    def fails(*_: object) -> NoReturn:
        raise error

    return fails


@pytest.mark.parametrize(
    ("error", "status"), [(OperationalError(SECRET), 503), (RuntimeError(SECRET), 500)]
)
@pytest.mark.parametrize("address", ["/questions/", "/api/v1/questions/"])
def test_an_unexpected_error_shows_no_secret(
    curator: User, error: Exception, status: int, address: str
) -> None:
    client = logged_in(curator)
    client.raise_request_exception = False
    with connection.execute_wrapper(failing(error)):
        page = client.get(address)
    assert page.status_code == status
    text = page.content.decode()
    assert SECRET not in text
    assert str(settings.BASE_DIR) not in text
    assert ("Retry-After" in page.headers) == (status == 503)
    if address.startswith("/api/"):
        assert set(page.json()) == {"code", "detail"}


@pytest.mark.parametrize("length", [3 << 20, 5 << 20])
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_a_form_that_is_too_large_is_told_so(
    curator: User, length: int, headers: dict[str, str]
) -> None:
    """From 2 to 4 MB the page said that the address or the form contains an error."""
    client = logged_in(curator)
    page = client.post("/i18n/setlang/", {"language": "x" * length}, headers=headers)
    assert page.status_code == 413
    assert "larger than the" in page.text


@pytest.mark.parametrize("address", ["/questions/", "/api/v1/questions/"])
@pytest.mark.parametrize("lost", ["the database", "the session"])
def test_a_session_that_cannot_be_stored_is_no_bad_request(
    curator: User, lost: str, address: str
) -> None:
    """At the end of a request: a desk sends a 503 again, and shows the login for a 401."""
    client = logged_in(curator)
    session = client.session
    session["seen"] -= 600  # so that the request stores it
    session.save()

    def fails(execute: Any, sql: str, *rest: Any) -> Any:
        if sql.startswith("UPDATE") and "django_session" in sql:
            if lost == "the database":
                raise OperationalError(SECRET)
            Session.objects.all().delete()
        return execute(sql, *rest)

    with connection.execute_wrapper(fails):
        page = client.get(address)
        script = client.get(address, headers={"HX-Request": "true"})
    if lost == "the database":
        assert (page.status_code, page["Retry-After"]) == (503, "5")
        assert SECRET not in page.text
    elif address.startswith("/api/"):
        assert page.status_code == 401
    else:
        assert page["Location"] == f"/login/?next={address}"
        assert script.status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        *({"CONTENT_TYPE": f"{FORM}; charset={name}"} for name in CHARSETS),
        *({"CONTENT_TYPE": f"{FORM}; a*={name}''b"} for name in CHARSETS),
        {"CONTENT_TYPE": 'text/plain; charset="PunyCode"'},
        {"CONTENT_TYPE": f'a/b;"{";" * 31_000}'},
        {"HTTP_ACCEPT": f'a/b;"{";" * 31_000}'},
    ],
)
def test_headers_that_take_long_are_refused_before_anything_is_read(
    headers: dict[str, str],
) -> None:
    """Nobody's login: the decoder of ``punycode`` takes minutes for a megabyte, DRF 3 s for a
    long Accept."""
    body = b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\ne28h" + b"a" * 10**6
    environ = RequestFactory().generic("POST", "/login/", body).environ
    said: list[str] = []
    parts = application(environ | headers, lambda status, headers: said.append(status))
    assert (said, list(parts)) == (["400 Bad Request"], [REFUSED])


def test_a_cookie_with_a_backslash_is_not_read() -> None:
    """Python 3.11.7 took more than a second to read one of 30 kB (CVE-2024-7592)."""
    seen: list[str] = []

    def noted(environ: dict[str, Any], start_response: object) -> list[bytes]:
        seen.append(environ["HTTP_COOKIE"])
        return []

    odd = 'a="' + r"\"" * 15_000 + '"'
    for cookies in ("own=1; b=2", f"own=1; {odd}; b=2", odd):
        checked_headers(noted)({"HTTP_COOKIE": cookies}, lambda status, headers: None)
    assert seen == ["own=1; b=2", "own=1; b=2", ""]


class Unread:
    """A body that nobody may read."""

    def read(self, size: int = -1) -> NoReturn:
        raise AssertionError("it was read")

    readline = read


@pytest.mark.django_db
@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", MULTIPART_CONTENT])
@pytest.mark.parametrize(
    ("path", "host", "status"),
    [("/nothing/", "testserver", 404), ("/login/", "elsewhere.example", 400)],
)
def test_what_is_sent_to_no_page_is_not_read(
    content_type: str, path: str, host: str, status: int
) -> None:
    """Without a login, two megabytes took seconds to parse, and 5,000 fields were a 500."""
    client = Client(enforce_csrf_checks=True)
    client.get("/login/")
    assert "csrftoken" in client.cookies
    given = {"CONTENT_LENGTH": str(2 * 10**6), "wsgi.input": Unread()}
    with override_settings(ALLOWED_HOSTS=["testserver"]):
        answer = client.generic("POST", path, b"-", content_type, HTTP_HOST=host, **given)
    assert answer.status_code == status
    assert "data-refusal" in answer.text


@pytest.mark.parametrize(
    "content_type",
    ["", "application/json", "text/plain; charset=UTF-8", 'multipart/form-data; boundary="a(b"'],
)
def test_a_request_in_utf_8_is_read(content_type: str) -> None:
    assert is_utf_8(content_type)


def test_what_no_database_stores_is_replaced_in_forms_and_addresses(
    lead: User, teacher: User, other_teacher: User
) -> None:
    """PostgreSQL refuses NUL: each field that reached it would be an error 500."""
    made = small_round([teacher, other_teacher], 1)
    client = logged_in(lead)
    page = f"/rounds/{made.public_id}/monitoring/{teacher.public_id}/pause/"
    assert client.post(page, {"reason": "a\0b"}).status_code == 302
    assert made.pool.get(teacher=teacher).paused_reason == "a\ufffdb"
    assert client.get("/reports/?dataset=%00").status_code == 400
    assert client.get("/runs/prompts/a%00b/").status_code == 404
