"""A teacher's own marks: own rows only, as they count now, in open and in closed rounds."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import BlindAnswer, Mark, MarkingRound
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import NOW, answers_of, give, later, small_round

pytestmark = pytest.mark.django_db
WHERE = "/marking/marks/"


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Two teachers mark three responses of 12 points; a difference of one passes."""
    return small_round([teacher, other_teacher], 3, scheme=Scheme.TWO_AND_LEAD)


def listed(client: Client, where: str = WHERE) -> list[tuple[str, str]]:
    """Each row's response and total, from top to bottom."""
    page = client.get(where).text
    row = r"<tr><th scope=\"row\"[^>]*>(.*?)</th>.*?<strong>(.*?)</strong>"
    rows = re.findall(row, page, re.DOTALL)
    return [(re.sub(r"<[^>]+>", "", name), total) for name, total in rows]


def test_own_marks_stand_newest_first_and_nobody_elses(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    first, second, third = answers_of(made)
    give(first, teacher, ["3", "3", "6"], comment="my own words")
    give(second, teacher, ["1", "0", "0"])
    give(second, other_teacher, ["0", "0", "0"], comment="not for you")
    give(third, other_teacher, ["2", "2", "2"])
    client = logged_in(teacher)
    assert listed(client) == [(second.alias, "1"), (first.alias, "12")]
    page = client.get(WHERE).text
    assert "my own words" in page
    assert "not for you" not in page
    assert third.alias not in page
    assert listed(logged_in(other_teacher)) == [(third.alias, "6"), (second.alias, "0")]


def test_a_revised_mark_stands_once_and_one_returned_no_more(
    made: MarkingRound, teacher: User, lead: User
) -> None:
    MarkingRound.objects.filter(pk=made.pk).update(window_minutes=15)
    first, second, _ = answers_of(made)
    give(first, teacher, ["3", "3", "6"])
    give(second, teacher, ["1", "0", "0"])
    give(first, teacher, ["3", "3", "1"], based_on_version=1)
    client = logged_in(teacher)
    assert listed(client) == [(first.alias, "7"), (second.alias, "1")]
    past = NOW.replace(year=2000)
    return_marks(made, teacher, ReturnChoice(past), to_others=False, acting_user=lead, now=later(5))
    assert listed(client) == []
    assert Mark.objects.count() == 3
    home = client.get(reverse("marking:home")).text
    assert "2 returned for re-marking" in home, "before the teacher has taken one of them up again"


def test_a_round_narrows_the_list_and_anothers_round_is_none(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    other = small_round([teacher, other_teacher], 1, name="The other")
    theirs = small_round([other_teacher], 1, scheme=Scheme.SINGLE)
    one, two = answers_of(made)[0], answers_of(other)[0]
    give(one, teacher, ["1", "1", "1"])
    give(two, teacher, ["2", "2", "2"])
    client = logged_in(teacher)
    assert listed(client) == [(two.alias, "6"), (one.alias, "3")]
    assert listed(client, f"{WHERE}?round={made.public_id}") == [(one.alias, "3")]
    refused = [client.get(f"{WHERE}?round={key}") for key in (theirs.public_id, uuid4(), "x")]
    assert [response.status_code for response in refused] == [404] * 3
    assert all("There is no such round." in response.text for response in refused)


def desk(answer: BlindAnswer) -> str:
    return reverse("marking:desk", args=[answer.public_id])


def test_a_mark_leads_to_its_response_while_the_round_is_open(
    made: MarkingRound, teacher: User
) -> None:
    answer = answers_of(made)[0]
    give(answer, teacher, ["1", "1", "1"])
    client = logged_in(teacher)
    assert desk(answer) in client.get(WHERE).text
    assert client.get(desk(answer)).status_code == 200
    close_round(made, acting_user=None, now=NOW)
    page = client.get(WHERE).text
    assert answer.alias in page
    assert desk(answer) not in page


def test_who_has_left_a_round_sees_the_mark_without_a_link(
    made: MarkingRound, teacher: User
) -> None:
    answer = answers_of(made)[0]
    give(answer, teacher, ["1", "1", "1"])
    made.pool.filter(teacher=teacher).update(left_at=NOW)
    client = logged_in(teacher)
    assert client.get(desk(answer)).status_code == 404
    assert listed(client) == [(answer.alias, "3")]
    assert desk(answer) not in client.get(WHERE).text


def test_finished_rounds_stay_on_the_home_with_own_counts(
    made: MarkingRound, teacher: User, other_teacher: User
) -> None:
    for answer in answers_of(made):
        give(answer, other_teacher, ["1", "1", "1"])
    give(answers_of(made)[0], teacher, ["1", "1", "1"])
    client = logged_in(teacher)
    assert "finished round" not in client.get("/marking/").text
    close_round(made, acting_user=None, now=NOW)
    settings = {"dataset": made.dataset, "scheme": made.scheme, "random_seed": 1}
    discarded = MarkingRound.objects.create(name="Never started", status="closed", **settings)
    discarded.pool.create(teacher=teacher)
    page = client.get("/marking/").text
    assert "1 finished round" in page
    assert "Never started" not in page
    assert "1 of your marks" in page
    assert f"{WHERE}?round={made.public_id}" in page
    assert "3 of your marks" in logged_in(other_teacher).get("/marking/").text


def test_the_list_is_paged(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher], 51, scheme=Scheme.SINGLE)
    for answer in answers_of(made):
        give(answer, teacher, ["1", "1", "1"])
    client = logged_in(teacher)
    assert len(listed(client)) == 50
    assert len(listed(client, f"{WHERE}?page=2")) == 1
