"""The API of judgements: explicit fields, explicit filters."""

from __future__ import annotations

import pytest

from evaluations.models import MarkingRound, RoundTeacher, Run
from gradeapp.accounts.models import User
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, BETA, JUDGE, judged, mark, run_of, written

ADDRESS = "/api/v1/judgements/"


@pytest.fixture
def judgements(db: None) -> None:
    first = written(run_of(ALPHA))
    judged(first, None, "empty", reply="")
    judged(first, "8", number=2, flags=["total_repeated"])
    mark(first, "7", "8")
    judged(written(run_of(BETA), Subject.HISTORY), None, "no_total", judge="other")


def test_the_newest_reply_with_the_teachers_mark(lead: User, judgements: None) -> None:
    body = logged_in(lead).get(ADDRESS, {"judge": JUDGE}).json()
    (found,) = body["results"]
    assert body["count"] == 1
    expected = {
        "judge": JUDGE,
        "model": ALPHA,
        "condition": "as published",
        "dataset": "exam",
        "subject": "Physics",
        "repeat": 1,
        "number": 2,
        "status": "scored",
        "total": "8.000",
        "full": "10.00",
        "flags": ["total_repeated"],
        "released": [],
        "teachers": "7.5000",
        "reply": "【总分】8分",
    }
    assert {name: found[name] for name in expected} == expected
    assert set(found) - set(expected) == {"response", "task", "question", "created_at"}


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({}, 2),
        ({"status": "no_total"}, 1),
        ({"status": "empty"}, 0),
        ({"subject": "History"}, 1),
        ({"model": BETA}, 1),
        ({"judge": "nobody"}, 0),
        ({"dataset": "exam"}, 2),
    ],
)
def test_filters(query: dict[str, str], number: int, lead: User, judgements: None) -> None:
    assert logged_in(lead).get(ADDRESS, query).json()["count"] == number


@pytest.mark.parametrize(
    "query",
    [
        {"response__run__endpoint__key_variable__startswith": "S"},
        {"_connector": "OR"},
        {"ordering": "-total"},
        {"status": "kind"},
        {"dataset": "nothing"},
    ],
)
def test_what_nobody_declared_is_refused(
    query: dict[str, str], lead: User, judgements: None
) -> None:
    assert logged_in(lead).get(ADDRESS, query).status_code == 400


def test_a_lead_who_marks_is_told_to_wait(lead: User, judgements: None) -> None:
    marking = MarkingRound.objects.create(
        name="now", dataset=Run.objects.earliest("pk").dataset, scheme="1", random_seed=1
    )
    RoundTeacher.objects.create(round=marking, teacher=lead)
    assert logged_in(lead).get(ADDRESS).status_code == 403
