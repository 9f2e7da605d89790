"""Question bank's pages and API, for the whole cast."""

from __future__ import annotations

import hashlib

import pytest
from django.test import Client
from django.urls import reverse

from gradeapp.accounts.models import User
from questions.models import Asset, Question
from questions.rules.vocabulary import QuestionType, Subject
from tests.conftest import logged_in
from tests.factories import make_dataset, make_question, make_task

PNG = b"\x89PNG\r\n\x1a\n-not-really"


@pytest.fixture
def physics(db: None) -> Question:
    return make_question(stem="A body falls $h=5$ m <script>alert(1)</script>. How long?")


@pytest.fixture
def history(db: None) -> Question:
    task = make_task(subject=Subject.HISTORY, question_type=QuestionType.OPEN_ENDED)
    return make_question(task, stem="盐法改革的意义", rubric=(("增加财政收入", "6"),), year=2014)


@pytest.mark.parametrize(
    ("who", "status"),
    [("admin", 200), ("curator", 200), ("lead", 200), ("teacher", 403), ("outsider", 403)],
)
def test_who_may_read_the_bank(
    who: str, status: int, physics: Question, request: pytest.FixtureRequest
) -> None:
    client = logged_in(request.getfixturevalue(who))
    question = reverse("questions:question", args=[physics.public_id])
    for address in (reverse("questions:list"), question, "/api/v1/questions/"):
        assert client.get(address).status_code == status, address


def test_who_is_not_logged_in_is_sent_to_the_login(client: Client, physics: Question) -> None:
    response = client.get(reverse("questions:list"))
    assert response.status_code == 302
    assert response["Location"].startswith("/login/")
    assert client.get("/api/v1/questions/").status_code == 403


def test_filters_stand_in_the_address(curator: User, physics: Question, history: Question) -> None:
    client = logged_in(curator)
    found = client.get(reverse("questions:list"), {"subject": "History", "q": "盐法"})
    assert [row.pk for row, *_ in found.context["rows"]] == [history.pk]
    assert 'value="盐法"' in found.text
    nothing = client.get(reverse("questions:list"), {"q": "no such words"})
    assert "No questions found" in nothing.text


def test_a_question_is_shown_whole_and_inert(curator: User, physics: Question) -> None:
    page = logged_in(curator).get(reverse("questions:question", args=[physics.public_id]))
    assert '<span class="math inline">h=5</span>' in page.text
    assert "<script>alert(1)" not in page.text


def test_the_rubric_of_an_item_is_shown(curator: User, history: Question) -> None:
    page = logged_in(curator).get(reverse("questions:question", args=[history.public_id]))
    assert "增加财政收入" in page.text


def test_the_api_gives_key_and_rubric(curator: User, history: Question) -> None:
    body = logged_in(curator).get(f"/api/v1/questions/{history.public_id}/").json()
    assert body["revision"]["full_marks"] == "6.00"
    assert body["rubric"]["points"] == [
        {"text": "增加财政收入", "points": "6.00", "sub": 1, "group": None}
    ]


@pytest.mark.parametrize("parameter", ["created_by__password__startswith", "_connector", "model"])
def test_the_api_refuses_filters_that_nobody_declared(
    curator: User, physics: Question, parameter: str
) -> None:
    response = logged_in(curator).get("/api/v1/questions/", {parameter: "x"})
    assert response.status_code == 400
    assert parameter in response.json()["detail"]


@pytest.mark.parametrize(("who", "status"), [("teacher", 200), ("curator", 200), ("outsider", 403)])
def test_images_are_for_readers_and_markers(
    who: str, status: int, request: pytest.FixtureRequest
) -> None:
    user = request.getfixturevalue(who)
    digest = hashlib.sha256(PNG).hexdigest()
    asset = Asset.objects.create(
        dataset=make_dataset(), name="a.png", media_type="image/png", sha256=digest, content=PNG
    )
    response = logged_in(user).get(reverse("questions:image", args=[asset.public_id]))
    assert response.status_code == status
    if status == 200:
        assert response.content == PNG
        assert response["X-Content-Type-Options"] == "nosniff"
