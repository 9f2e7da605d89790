"""The page of the simulator; reports/test_published_figures.py replays the published marks."""

from __future__ import annotations

from decimal import Decimal as D

import pytest
from django.urls import reverse

from evaluations.marking.monitoring.selectors.tolerance_simulator import marked_twice
from evaluations.models import MarkingRound
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking.rounds.test_judge_checks import judges
from tests.evaluations.marking_world import answers_of, claimed, give, planned_pair, small_round

pytestmark = pytest.mark.django_db
POINTS = {"5": ("3", "2", "0"), "6": ("3", "3", "0"), "12": ("3", "3", "6")}


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Marks 6 and 6, 6 and 5, 12 and 6 of 12: the third waits for the lead."""
    made = small_round([teacher, other_teacher], 4)
    for answer, pair in zip(answers_of(made), (("6", "6"), ("6", "5"), ("12", "6")), strict=False):
        for who, total in zip(planned_pair(answer), pair, strict=True):
            give(answer, who, POINTS[total])
    return made


def test_what_the_simulator_reads(made: MarkingRound) -> None:
    rows = [(one.first, one.second, one.final, one.tolerance) for one in marked_twice(made)]
    assert sorted(rows) == [
        (D(6), D(5), D("5.5"), D(1)),
        (D(6), D(6), D(6), D(1)),
        (D(12), D(6), None, D(1)),
    ]


def test_the_setting_in_force_moves_nothing_that_judges_asked_a_third_mark_for(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """12 and 11 pass; the judges gave 0, so a third mark is asked for, and 11 is closest to it."""
    people = [teacher, other_teacher, third_teacher]
    settings = {"scheme": Scheme.TWO_AND_LEAD, "judge_check_share": D("0.25")}
    (answer,) = answers_of(made := small_round(people, **settings))
    judges(answer, "0")
    first, second = planned_pair(answer)
    (third,) = set(people) - {first, second}
    for person, points in ((first, ("3", "3", "6")), (second, ("3", "2", "6"))):
        give(answer, person, points)
    give(claimed(third, made).answer, third, ("3", "2", "6"))
    answer.refresh_from_db()
    assert answer.final
    assert answer.final.value == 11
    where = reverse("monitoring:tolerance", args=[made.public_id])
    in_force = logged_in(lead).get(where).context["lines"][0].outcome
    assert (in_force.known, in_force.moved) == (1, 0)


def test_a_number_of_responses_leads_to_them(made: MarkingRound, lead: User) -> None:
    client, where = logged_in(lead), reverse("monitoring:tolerance", args=[made.public_id])
    page = client.get(where)
    assert page.status_code == 200
    assert "3 responses with two marks" in page.text
    # 0 % but at least 0 points: two pairs differ
    page = client.get(where, {"least": "0", "at": "0"})
    assert page.context["chosen"].outcome.beyond == 2
    assert page.text.count('<a class="row-link"') == 2
    # 6 points, half of the full marks, let all pass
    page = client.get(where, {"unit": "points", "at": "6"})
    assert page.context["chosen"].outcome.beyond == 0
    assert "Every pair of marks is within this tolerance." in page.text


def test_nonsense_in_the_address_is_passed_over(made: MarkingRound, lead: User) -> None:
    where = reverse("monitoring:tolerance", args=[made.public_id])
    asked = {"unit": "miles", "least": "many", "task": "none", "at": "x", "page": "-1"}
    page = logged_in(lead).get(where, asked)
    assert page.status_code == 200
    assert page.context["chosen"].value is None


def test_a_round_without_pairs_says_so(teacher: User, other_teacher: User, lead: User) -> None:
    made = small_round([teacher, other_teacher])
    page = logged_in(lead).get(reverse("monitoring:tolerance", args=[made.public_id]))
    assert "No response has two marks yet" in page.text
