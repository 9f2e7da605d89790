"""Sending back while teachers save: whichever comes first, no final mark rests on a void one."""

from __future__ import annotations

import uuid
from decimal import Decimal
from functools import partial

import pytest

from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.models import FinalMark, Mark
from evaluations.schemes import Scheme
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import Conflict, NotFound
from questions.rules.rubric import RubricLines, ScoringPoint
from questions.services.rubrics import accept_rubric, draft_rubric
from tests.evaluations.marking.desk.test_marking_races import at_once, save, teachers
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    held_slot,
    later,
    planned_pair,
    small_round,
)
from tests.factories import make_rubric, make_user
from tests.waiting import after

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 6


def test_a_partner_saves_while_the_first_mark_goes_back() -> None:
    lead = make_user(Role.LEAD)
    pool = teachers(3)
    for made in [small_round(pool, scheme=Scheme.THREE_AND_LEAD) for _ in range(ROUNDS)]:
        answer = answers_of(made)[0]
        one, other = planned_pair(answer)
        give(answer, one, ("3", "3", "0"))
        slot = held_slot(answer, other)
        back = partial(
            return_marks, made, one, ReturnChoice(NOW.replace(year=2000)), to_others=False,
            acting_user=lead, now=later(5),
        )  # fmt: skip
        saved, taken = at_once(partial(save, slot, other, ("3", "3", "0")), back)
        assert isinstance(saved, Mark)
        assert len(taken.marks) == 1
        answer.refresh_from_db()
        assert answer.final is None
        # the partner's save came first exactly where a final mark fell
        assert FinalMark.objects.filter(answer=answer).count() == len(taken.finals)
        give(answer, one, ("3", "3", "1"))
        answer.refresh_from_db()
        assert answer.final
        counting = Mark.objects.counting().filter(slot__answer=answer)
        assert set(answer.final.marks.all()) == set(counting)


def test_a_teacher_revises_while_the_mark_goes_back() -> None:
    lead = make_user(Role.LEAD)
    pool = teachers(2)
    for made in [small_round(pool, window_minutes=15) for _ in range(ROUNDS)]:
        answer = answers_of(made)[0]
        one, _other = planned_pair(answer)
        give(answer, one, ("3", "3", "0"))
        slot = held_slot(answer, one)
        revise = partial(
            save_mark, slot, one, key=uuid.uuid4(), based_on_version=1, now=later(2),
            points=(Decimal(3), Decimal(3), Decimal(1)),
        )  # fmt: skip
        back = partial(
            return_marks, made, one, ReturnChoice(NOW.replace(year=2000)), to_others=False,
            acting_user=lead, now=later(5),
        )  # fmt: skip
        revised, taken = at_once(revise, back)
        assert not isinstance(taken, Conflict)
        stored = list(slot.marks.order_by("version"))
        slot.refresh_from_db()
        assert (slot.marked, slot.void_version) == (False, stored[-1].version)
        # refused after it went back, or stored before and taken back as well
        assert len(stored) == (1 if isinstance(revised, NotFound) else 2)


def test_a_rubric_that_is_accepted_meanwhile_is_not_used() -> None:
    """The lead has seen version 2; whoever accepts version 3 first is waited for."""
    lead = make_user(Role.LEAD)
    made = small_round(teachers(2))
    question = answers_of(made)[0].question
    make_rubric(question, (("all of it", "12"),))
    lines = RubricLines((ScoringPoint("another", Decimal(12)),))
    newer = draft_rubric(question, lines, acting_user=lead)
    refused = after(
        lambda: accept_rubric(newer, acting_user=lead, now=later(4)),
        lambda: use_new_rubric(
            made, question, scope=RemarkScope.ALL, version=2, acting_user=lead, now=later(5)
        ),
    )
    assert isinstance(refused, Conflict)
    assert refused.code == "newer_rubric"
    assert not made.answers.filter(rubric__version__gt=1).exists()
