"""What only takes a POST, opened by a browser: switch of language, reload, address bar."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.models import User
from gradeapp.http import page_above
from tests.conftest import logged_in

pytestmark = pytest.mark.django_db
BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8"


def test_a_refused_file_survives_the_switch_of_language(curator: User) -> None:
    client = logged_in(curator)
    where = reverse("questions:rubric-import")
    refused = client.post(where, {"file": SimpleUploadedFile("r.csv", b"nothing")})
    assert refused.status_code == 400
    assert f'name="next" value="{where}"' in refused.text
    wish = {"language": "zh-hans", "next": where}
    shown = client.post(reverse("set_language"), wish, follow=True, headers={"accept": BROWSER})
    assert shown.redirect_chain[-1][0] == reverse("questions:rubric-bank")
    assert shown.status_code == 200
    assert 'lang="zh-hans"' in shown.text.lower()


@pytest.mark.parametrize(
    ("route", "above"),
    [
        ("questions:bulk-preview", "questions:bulk"),
        ("questions:bulk-apply", "questions:bulk"),
        ("questions:labelling-undo", "questions:labelling"),
        ("questions:rubric-propose-all", "questions:rubric-bank"),
        ("questions:view-save", "questions:list"),
        ("logout", "home"),
    ],
)
def test_a_browser_is_led_to_the_page_above(curator: User, route: str, above: str) -> None:
    client = logged_in(curator)
    response = client.get(reverse(route), headers={"accept": BROWSER})
    assert (response.status_code, response.get("Location")) == (302, reverse(above))
    assert client.get(reverse(above)).status_code == 200


def test_a_program_still_learns_that_the_method_is_wrong(curator: User) -> None:
    client = logged_in(curator)
    for route in ("questions:rubric-import", "logout"):
        assert client.get(reverse(route)).status_code == 405
        assert client.put(reverse(route), headers={"accept": BROWSER}).status_code == 405


def test_nobody_is_led_past_the_login(client: Client) -> None:
    response = client.get(reverse("questions:rubric-import"), headers={"accept": BROWSER})
    assert response["Location"].startswith(reverse("login"))


def test_the_page_above_is_one_that_there_is() -> None:
    question = uuid4()
    labels = reverse("questions:labels", args=[question])
    assert page_above(labels) == reverse("questions:question", args=[question])
    assert page_above("/questions/views/7/nowhere/") == "/questions/views/"
    assert page_above("/questions/views/") == "/questions/"
    assert page_above("//elsewhere.example/x/") == "/"
    assert page_above("/") == "/"
