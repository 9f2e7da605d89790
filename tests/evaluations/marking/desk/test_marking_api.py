"""The API of a teacher's own marks, for the whole cast."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.rounds.services.rounds import close_round, pause_round
from evaluations.models import BlindAnswer, Mark, MarkingRound
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking.monitoring.test_new_rubric import replaced
from tests.evaluations.marking_world import NOW, answers_of, give, held_slot, small_round

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/marks/"


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 2)


@pytest.fixture
def answer(made: MarkingRound, teacher: User) -> BlindAnswer:
    return held_slot(answers_of(made)[0], teacher).answer


def body(answer: BlindAnswer, **fields: Any) -> dict[str, Any]:
    return {
        "response": str(answer.public_id),
        "key": str(uuid.uuid4()),
        "based_on_version": 0,
        "points": ["3", "1.5", "0"],
    } | fields


def send(client: Client, sent: dict[str, Any]) -> Any:
    return client.post(ADDRESS, sent, content_type="application/json")


@pytest.mark.parametrize("who", ["admin", "curator", "lead", "outsider"])
def test_only_teachers_have_marks(
    who: str, answer: BlindAnswer, request: pytest.FixtureRequest
) -> None:
    client = logged_in(request.getfixturevalue(who))
    assert client.get(ADDRESS).status_code == 403
    assert send(client, body(answer)).status_code == 403
    assert send(Client(), body(answer)).status_code == 403
    assert Mark.objects.count() == 0


def test_a_mark_is_saved_once(answer: BlindAnswer, teacher: User) -> None:
    client, sent = logged_in(teacher), body(answer, comment="why", flags=["cut_off"], seconds=40)
    first, second = send(client, sent), send(client, sent)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    assert first.json()["total"] == "4.50"
    assert first.json()["points"][1] == {
        "wording": "sets up the equation",
        "points": "1.50",
        "full": "3.00",
    }
    assert Mark.objects.count() == 1


def test_the_list_holds_own_marks_only(
    made: MarkingRound, answer: BlindAnswer, teacher: User, other_teacher: User
) -> None:
    give(answer, teacher, ["3", "3", "6"], comment="mine")
    give(answer, other_teacher, ["0", "0", "0"], comment="canary-other-comment")
    listed = logged_in(teacher).get(ADDRESS)
    assert [mark["comment"] for mark in listed.json()["results"]] == ["mine"]
    assert set(listed.json()["results"][0]) == {
        *("round", "response", "alias", "key", "version", "stale", "total", "full", "points"),
        *("rubric", "comment", "flags", "seconds", "entered_by", "created_at"),
    }
    assert logged_in(teacher).get(ADDRESS, {"round": made.public_id}).json()["count"] == 1
    assert logged_in(teacher).get(ADDRESS, {"round": uuid.uuid4()}).json()["count"] == 0


def test_anothers_response_a_missing_one_and_a_withdrawn_one_are_the_same(
    made: MarkingRound, answer: BlindAnswer, teacher: User, other_teacher: User
) -> None:
    not_mine = send(logged_in(other_teacher), body(answer))
    missing = send(logged_in(other_teacher), body(answer, response=str(uuid.uuid4())))
    assert (not_mine.status_code, not_mine.content) == (404, missing.content)
    answer.slots.update(holder=None)
    assert send(logged_in(teacher), body(answer)).content == missing.content
    assert Mark.objects.count() == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"final": 15},
        {"marker": 1, "locked": False},
        {"points": ["3", "1.5"]},
        {"points": ["NaN", "0", "0"]},
        {"points": ["9", "0", "0"]},
        {"points": [None, "0", "0"]},
        {"total": 99},
        {"flags": ["no-such-flag"]},
        {"key": "no-uuid"},
        {"based_on_version": -1},
        {"comment": "x" * 10_001},
    ],
)
def test_what_does_not_fit_is_refused(
    fields: dict[str, Any], answer: BlindAnswer, teacher: User
) -> None:
    assert send(logged_in(teacher), body(answer, **fields)).status_code == 400
    assert Mark.objects.count() == 0


@pytest.mark.parametrize("sent", ["[]", '"text"', "3", "{", "null"])
def test_a_body_that_is_no_mark_is_refused(sent: str, teacher: User) -> None:
    response = logged_in(teacher).post(ADDRESS, sent, content_type="application/json")
    assert response.status_code == 400


@pytest.mark.parametrize(
    "query",
    ["ordering=-total", "slot__kind=first", "teacher=1", "_connector=OR", "round=x", "response=1"],
)
def test_a_filter_that_was_not_declared_is_refused(query: str, teacher: User) -> None:
    assert logged_in(teacher).get(f"{ADDRESS}?{query}").status_code == 400


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_a_mark_is_never_changed_in_place(method: str, teacher: User) -> None:
    assert getattr(logged_in(teacher), method)(ADDRESS).status_code in (403, 405)


def test_a_conflict_holds_both_marks(answer: BlindAnswer, teacher: User) -> None:
    MarkingRound.objects.update(window_minutes=15)
    client = logged_in(teacher)
    send(client, body(answer, points=["1", "1", "1"]))
    late = send(client, body(answer, points=["2", "2", "2"]))
    assert late.status_code == 409
    assert late.json()["code"] == "stale_version"
    assert (late.json()["stored"]["total"], late.json()["sent"]["total"]) == ("3", "6")


def test_a_request_that_comes_again_after_a_change_is_the_same_mark(
    answer: BlindAnswer, teacher: User
) -> None:
    MarkingRound.objects.update(window_minutes=15)
    client, first = logged_in(teacher), body(answer, points=["1", "1", "1"])
    send(client, first)
    changed = body(answer, points=["2", "1", "1"], based_on_version=1)
    assert send(client, changed).status_code == 201
    again = send(client, first)
    assert (again.status_code, again.json()["version"], again.json()["total"]) == (200, 1, "3.00")


@pytest.mark.parametrize("paused", [False, True])
def test_a_mark_for_the_rubric_before_is_refused_as_such(
    paused: bool, answer: BlindAnswer, made: MarkingRound, teacher: User, lead: User
) -> None:
    sent = body(answer, rubric=rubric_code(answer))
    if paused:
        pause_round(made, acting_user=lead)
    replaced(made, answer.question, lead)
    refused = send(logged_in(teacher), sent)
    assert (refused.status_code, refused.json()["code"]) == (409, "rubric_changed")
    assert not Mark.objects.exists()


def test_a_closed_round_takes_no_mark(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    close_round(made, acting_user=None, now=NOW)
    response = send(logged_in(teacher), body(answer))
    assert (response.status_code, response.json()["code"]) == (409, "round_closed")


def test_the_route_has_its_name() -> None:
    assert reverse("api-marks") == ADDRESS
