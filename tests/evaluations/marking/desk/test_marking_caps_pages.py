"""A rubric with a cap, from the desk to the lead and the judge's page."""

from __future__ import annotations

import re
from decimal import Decimal as D

import pytest
from django.urls import reverse

from evaluations.models import BlindAnswer, FinalMark, Mark, MarkingRound
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from questions.models import Question, Rubric, RubricGroup
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_pages import filled
from tests.evaluations.marking_world import (
    answers_of,
    give,
    held_slot,
    planned_pair,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
# 4 points for the reform and any two of three effects: 8 in all, 10 if everything counted.
POINTS = (("the reform", "4"), ("effect one", "2"), ("effect two", "2"), ("effect three", "2"))


def capped(question: Question, cap: str, choose: int | None) -> Question:
    """The item with its last three points in a group."""
    rubric = Rubric.objects.get(question=question)
    group = RubricGroup.objects.create(
        rubric=rubric, order=1, cap=D(cap), choose=choose, text="effects"
    )
    rubric.points.filter(order__gt=1).update(group=group)
    return question


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    question = capped(subjective_question(POINTS, "8"), "4", 2)
    return small_round([teacher, other_teacher], 1, question=question)


@pytest.fixture
def answer(made: MarkingRound) -> BlindAnswer:
    return answers_of(made)[0]


def test_a_round_opens_where_the_capped_total_is_the_full_marks(made: MarkingRound) -> None:
    assert answers_of(made)[0].full_marks == 8


def test_a_rubric_whose_cap_leaves_it_short_opens_no_round(
    teacher: User, other_teacher: User
) -> None:
    question = capped(subjective_question(POINTS, "8"), "3", None)
    with pytest.raises(BadInput, match="does not add up to the full marks of 8"):
        small_round([teacher, other_teacher], 1, question=question)


def test_the_desk_says_the_cap_and_counts_under_it(answer: BlindAnswer, teacher: User) -> None:
    held_slot(answer, teacher)
    client, address = logged_in(teacher), reverse("marking:desk", args=[answer.public_id])
    page = client.get(address).text
    assert page.count("the best 2 count, at most 4") == 1
    assert page.count('data-group="1" data-cap="4" data-choose="2"') == 3
    refused = client.post(
        reverse("marking:save", args=[answer.public_id]), filled(page, "1", "2", "2", "2.3")
    )
    # What was typed stays, and its sum so far is the capped one.
    assert re.search(r'id="sum"[^>]*>5<', refused.text)
    client.post(
        reverse("marking:save", args=[answer.public_id]), filled(page, "3", "2", "2", "1.5")
    )
    mark = Mark.objects.get()
    assert mark.total == 7
    assert [point.points for point in mark.points.all()] == [3, 2, 2, D("1.5")]


def test_the_api_refuses_a_total_beyond_the_cap(answer: BlindAnswer, teacher: User) -> None:
    with pytest.raises(BadInput, match="differs from the sum of the scoring points, 7"):
        give(answer, teacher, ["3", "2", "2", "2"], total=D(8))
    assert give(answer, teacher, ["3", "2", "2", "2"], total=D(7)).total == 7


def test_marks_that_differ_beyond_what_counts_agree(answer: BlindAnswer) -> None:
    first, second = planned_pair(answer)
    give(answer, first, ["4", "2", "2", "0"])
    give(answer, second, ["4", "0", "2", "2"])
    assert FinalMark.objects.get().value == 8


def test_the_lead_sees_the_group_and_decides_under_its_cap(answer: BlindAnswer, lead: User) -> None:
    first, second = planned_pair(answer)
    give(answer, first, ["4", "2", "2", "2"])
    give(answer, second, ["0", "0", "0", "0"])
    client = logged_in(lead)
    page = client.get(
        reverse("rounds:response", args=[answer.round.public_id, answer.public_id])
    ).text
    assert page.count("the best 2 count, at most 4") == 1
    assert page.count('data-group="1" data-cap="4" data-choose="2"') == 3
    form = page[page.index('id="decision"') :]
    hidden = dict(re.findall(r'name="(answer|key|seen)" value="([^"]*)"', form))
    own = {f"point-{number}": "2" for number in range(1, 5)}
    client.post(
        reverse("rounds:response", args=[answer.round.public_id, answer.public_id]),
        hidden | {"decision": "own", "reason": "slip", "comment": ""} | own,
    )
    assert FinalMark.objects.get().value == 6
