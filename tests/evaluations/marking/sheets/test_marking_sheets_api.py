"""Sheets over the API: taken, read, checked, saved once, given back; own ones only."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.models import Mark, MarkingRound
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round

pytestmark = pytest.mark.django_db
JSON = "application/json"


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 3)


def take(client: Client, made: MarkingRound, responses: int = 2, **fields: Any):  # type: ignore[no-untyped-def]
    until = (timezone.localdate() + timedelta(days=3)).isoformat()
    body = {"round": str(made.public_id), "responses": responses, "until": until} | fields
    return client.post(reverse("api-sheets"), body, content_type=JSON)


def of(sheet: str) -> str:
    return reverse("api-sheet", args=[sheet])


def send(client: Client, sheet: str, rows: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    body = {"rows": rows} | fields
    return client.post(of(sheet), body, content_type=JSON).json()


def test_a_sheet_is_taken_read_checked_and_saved(made: MarkingRound, teacher: User) -> None:
    client = logged_in(teacher)
    response = take(client, made)
    assert (response.status_code, response.json()["left"]) == (201, 2)
    sheet = response.json()["sheet"]
    one, two = client.get(of(sheet)).json()["lines"]
    assert [point["max"] for point in one["scoring_points"]] == ["3", "3", "6"]
    assert "canary" not in str((one, two))
    good = {"response": one["response"], "points": ["3", 2.5, "6"], "flags": ["cut_off"]}
    bad = {"response": two["response"], "points": ["3", "2.25", "6"]}
    checked = send(client, sheet, [good, bad])
    assert [row["state"] for row in checked["rows"]] == ["new", "bad"]
    assert checked["rows"][1]["detail"] == "Scoring point 2: 2.25 is not a multiple of 0.5."
    assert not Mark.objects.exists()
    for state in ("saved", "same"):
        done = send(client, sheet, [good, bad], save=True)
        assert (done["rows"][0]["state"], done["left"]) == (state, 1)
    assert (Mark.objects.get().total, Mark.objects.get().flags) == (11.5, ["cut_off"])
    assert client.delete(of(sheet)).json()["left"] == 0
    assert [one["sheet"] for one in client.get(reverse("api-sheets")).json()] == [sheet]


def test_what_is_refused(made: MarkingRound, teacher: User, other_teacher: User) -> None:
    client, other = logged_in(teacher), logged_in(other_teacher)
    assert take(client, made, teacher="wei").status_code == 400
    assert take(client, made, responses=0).json()["code"] == "bad_input"
    assert take(client, made, round=str(made.answers.first().public_id)).status_code == 404  # type: ignore[union-attr]
    sheet = take(client, made).json()["sheet"]
    for method in (other.get, other.delete):
        assert method(of(sheet)).status_code == 404
    assert other.post(of(sheet), {"rows": []}, content_type=JSON).status_code == 404
    row = {"response": "x", "points": [], "marker": "wei"}
    assert client.post(of(sheet), {"rows": [row]}, content_type=JSON).status_code == 400
    assert other.get(reverse("api-sheets")).json() == []
