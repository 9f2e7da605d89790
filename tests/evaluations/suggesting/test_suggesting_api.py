"""Suggestions over the API, for the whole cast."""

from __future__ import annotations

from typing import Any

import pytest

from evaluations.models import Endpoint, Run
from evaluations.runs.services.endpoints import save_endpoint
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.suggest_world import LABELS, answered
from tests.factories import make_dataset, make_question, make_task

pytestmark = pytest.mark.django_db
SUGGEST = "/api/v1/runs/suggest/"
WHOLE = {"endpoint": "scripted", "asks": "labels", "dataset": "exam"}


@pytest.fixture
def endpoint(db: None) -> Endpoint:
    dataset = make_dataset("exam")
    make_question(make_task(dataset))
    make_question(make_task(dataset, subject=Subject.HISTORY))
    return save_endpoint(
        name="scripted",
        base_url="http://127.0.0.1:8099/v1",
        model="scripted-demo",
        acting_user=None,
    )


def post(user: User, **data: Any) -> Any:
    return logged_in(user).post(SUGGEST, data, content_type="application/json")


def test_it_starts_by_filters(admin: User, endpoint: Endpoint) -> None:
    given = {**WHOLE, "filters": {"subject": "History"}, "idempotency_key": "mine"}
    started = post(admin, **given)
    assert started.status_code == 201
    body = started.json()
    assert (body["purpose"], body["asks"], body["planned"]) == ("suggest", "labels", 1)
    assert body["progress"]["planned"] == 1
    assert post(admin, **given).json()["id"] == body["id"]
    listed = logged_in(admin).get("/api/v1/runs/", {"purpose": "suggest"}).json()["results"]
    assert [row["id"] for row in listed] == [body["id"]]


@pytest.mark.parametrize("who", ["lead", "curator", "teacher", "outsider"])
def test_who_may_not(who: str, endpoint: Endpoint, request: pytest.FixtureRequest) -> None:
    assert post(request.getfixturevalue(who), **WHOLE).status_code == 403
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"asks": "marks"},
        {"asks": "rubric"},
        {"dataset": "none"},
        {"limit": 0},
        {"filters": {"subject": "Alchemy"}},
        {"filters": {"label__knowledge__slug__startswith": "l"}},
        {"filters": "subject=History"},
        {"prompt": "say yes"},
    ],
)
def test_bad_input(admin: User, endpoint: Endpoint, changes: dict[str, Any]) -> None:
    assert post(admin, **{**WHOLE, **changes}).status_code == 400
    assert not Run.objects.exists()


def test_what_was_read_in_each_reply(admin: User, endpoint: Endpoint) -> None:
    run = answered(endpoint, admin, [LABELS, "no"])
    rows = logged_in(admin).get(f"/api/v1/runs/{run.pk}/responses/").json()["results"]
    assert sorted((row["suggestions"] for row in rows), key=str) == [
        [{"outcome": "read", "reason": "", "said": [
            {"label": "ability_branch", "value": "reasoning"},
            {"label": "knowledge", "value": "logical-judgment"},
            {"label": "difficulty", "value": 3},
        ]}],
        [{"outcome": "unreadable", "reason": "no_json", "said": []}],
    ]  # fmt: skip
