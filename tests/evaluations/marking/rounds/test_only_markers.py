"""``GRADEAPP_ONLY_MARKERS_MARK``: people with another role are not chosen to mark."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.conf import LazySettings

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import add_teachers, start_round
from evaluations.models.vocabulary import RoundStatus
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in
from tests.evaluations.marking_world import responses_to, subjective_question
from tests.evaluations.review_world import review_of, wrong_answers

pytestmark = pytest.mark.django_db
SETTINGS = RoundSettings("Round 4", 7, Scheme.TWO_AND_LEAD)


def with_roles(person: User, *roles: Role) -> User:
    ensure_user(person.username, roles=[Role.TEACHER, *roles])
    return User.objects.get(pk=person.pk)


@pytest.fixture
def mixed(other_teacher: User) -> User:
    return with_roles(other_teacher, Role.LEAD)


def test_a_lead_who_teaches_is_offered_and_taken_nowhere(
    settings: LazySettings, teacher: User, mixed: User, third_teacher: User, lead: User
) -> None:
    choice = ResponseChoice(tuple(one.run_id for one in responses_to(subjective_question(), 2)))
    given = {"responses": choice, "acting_user": lead}
    assert str(mixed) in logged_in(lead).get("/rounds/new/").text, "as long as the setting is off"
    settings.ONLY_MARKERS_MARK = True
    page = logged_in(lead).get("/rounds/new/").text
    assert (str(mixed) in page, str(teacher) in page) == (False, True)
    made = plan_round(SETTINGS, teachers=[teacher, third_teacher], **given)  # type: ignore[arg-type]
    ways: list[Callable[[], object]] = [
        lambda: plan_round(SETTINGS, teachers=[teacher, mixed], **given),  # type: ignore[arg-type]
        lambda: add_teachers(made, [mixed], acting_user=lead),
        lambda: review_of(wrong_answers(2), [mixed]),
    ]
    for way in ways:
        with pytest.raises(BadInput, match="has another role too"):
            way()


def test_a_role_that_somebody_got_after_the_plan_keeps_the_round_from_starting(
    settings: LazySettings, teacher: User, third_teacher: User, lead: User
) -> None:
    settings.ONLY_MARKERS_MARK = True
    choice = ResponseChoice(tuple(one.run_id for one in responses_to(subjective_question(), 2)))
    people = [teacher, third_teacher]
    made = plan_round(SETTINGS, responses=choice, teachers=people, acting_user=lead)
    with_roles(teacher, Role.CURATOR)
    with pytest.raises(BadInput, match="has another role too"):
        start_round(made, acting_user=lead)
    made.refresh_from_db()
    assert made.status == RoundStatus.PLANNED
    with_roles(teacher)
    start_round(made, acting_user=lead)
    assert made.status == RoundStatus.OPEN
