"""The API of capability reviews: own judgements only; figures for leads."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from evaluations.models import CapabilityJudgement, CapabilityReview
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.review_world import items_of, review_of, say, taken, wrong_answers

pytestmark = pytest.mark.django_db
OWN = "/api/v1/capability-judgements/"


@pytest.fixture
def review(teacher: User, other_teacher: User) -> CapabilityReview:
    return review_of(wrong_answers(2), [teacher, other_teacher], reviewers_each=2)


def body(review: CapabilityReview, teacher: User, **fields: Any) -> dict[str, Any]:
    item = taken(items_of(review)[0], teacher).item
    return {
        "answer": str(item.public_id),
        "key": str(uuid.uuid4()),
        "based_on_version": 0,
        "understanding": 1,
        "knowledge": 0,
        "reasoning": 0,
        "calculation": None,
    } | fields


def send(who: User, sent: dict[str, Any]) -> Any:
    return logged_in(who).post(OWN, sent, content_type="application/json")


def test_a_judgement_is_saved_once(review: CapabilityReview, teacher: User) -> None:
    sent = body(review, teacher, weaknesses=["multi_hop"], note="why", seconds=40)
    first, second = send(teacher, sent), send(teacher, sent)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json() == second.json()
    made = first.json()
    assert (made["review"], made["version"]) == (str(review.public_id), 1)
    assert (made["understanding"], made["calculation"], made["weaknesses"]) == (
        1,
        None,
        ["multi_hop"],
    )


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"reasoning": 2}, 400),
        ({"weaknesses": ["laziness"]}, 400),
        ({"reviewer": "lin"}, 400),
        ({"answer": str(uuid.UUID(int=7))}, 404),
        ({"based_on_version": 1}, 409),
    ],
)
def test_what_does_not_fit_is_refused(
    fields: dict[str, Any], status: int, review: CapabilityReview, teacher: User
) -> None:
    assert send(teacher, body(review, teacher, **fields)).status_code == status
    assert not CapabilityJudgement.objects.exists()


def test_everybody_reads_their_own_only(
    review: CapabilityReview, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    item = items_of(review)[0]
    say(item, teacher, "u", note="mine")
    say(item, other_teacher, "k", note="theirs")
    results = logged_in(teacher).get(OWN, {"review": str(review.public_id)}).json()["results"]
    assert [row["note"] for row in results] == ["mine"]
    assert "reviewer" not in results[0]
    assert logged_in(third_teacher).get(OWN).json()["results"] == []
    named = logged_in(other_teacher).get(OWN, {"answer": str(item.public_id)}).json()["results"]
    assert [row["note"] for row in named] == ["theirs"]
    assert logged_in(teacher).get(OWN, {"reviewer": "wei"}).status_code == 400
    assert logged_in(teacher).get(OWN, {"answer": "x"}).status_code == 400


def test_leads_read_the_figures(review: CapabilityReview, teacher: User, lead: User) -> None:
    for item, ones in zip(items_of(review), ("u", ""), strict=True):
        say(item, teacher, ones)
    listed = logged_in(lead).get("/api/v1/capability-reviews/").json()["results"]
    assert [(one["answers"], one["due"], one["given"]) for one in listed] == [(2, 4, 2)]
    report = logged_in(lead).get(f"/api/v1/capability-reviews/{review.public_id}/").json()
    assert (report["report"], report["params"]["policy"]) == ("capability_review", "strict")
    shares = {row["key"]["dimension"]: row["figures"]["share"] for row in report["rows"]}
    assert (shares["understanding"]["value"], shares["understanding"]["n"]) == (0.5, 2)
    assert shares["reasoning"]["value"] == 0
    nothing = logged_in(lead).get(f"/api/v1/capability-reviews/{uuid.UUID(int=7)}/")
    assert nothing.status_code == 404
