"""The lead decides: once, on the marks that were shown, and never on an own mark."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from evaluations.marking.arbitration.services import arbitrate, correct_final
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.marking.services.finalizing import newest_marks
from evaluations.models import BlindAnswer, FinalMark, Mark
from evaluations.models.vocabulary import ArbitrationReason, SlotKind
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    later,
    marked_again,
    planned_pair,
    small_round,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def disputed(teacher: User, other_teacher: User) -> BlindAnswer:
    """A response with 12 and 0 of 12 points: beyond the tolerance of 1."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    first, second = planned_pair(answer)
    give(answer, first, ["3", "3", "6"])
    give(answer, second, ["0", "0", "0"])
    return answer


def decide(answer: BlindAnswer, lead: User, points: tuple[str, ...], **fields: Any) -> Mark:
    seen = [mark.pk for mark in newest_marks(answer).values()]
    given: dict[str, Any] = {
        "key": uuid.uuid4(),
        "seen": seen,
        "points": tuple(Decimal(value) for value in points),
        "reason": ArbitrationReason.SLIP,
        "now": later(60),
    }
    return arbitrate(answer, lead, **(given | fields))


def test_the_leads_mark_is_final_with_its_reason(disputed: BlindAnswer, lead: User) -> None:
    mark = decide(disputed, lead, ("3", "2", "4"), comment="the law is named")
    final = disputed.finals.get()
    assert (final.value, final.rule, final.marks.get()) == (Decimal(9), "arbitration", mark)
    assert (mark.reason, mark.comment, mark.slot.kind) == (
        "slip",
        "the law is named",
        "arbitration",
    )
    assert mark.points.count() == 3
    noted = AuditEntry.objects.get(tag="mark.arbitrated")
    assert (noted.actor, noted.detail["reason"]) == (lead, "slip")


def test_the_same_decision_sent_twice_is_one(disputed: BlindAnswer, lead: User) -> None:
    fields = {"key": uuid.uuid4(), "seen": [m.pk for m in newest_marks(disputed).values()]}
    first = decide(disputed, lead, ("3", "2", "4"), **fields)
    assert decide(disputed, lead, ("3", "2", "4"), **fields) == first
    assert FinalMark.objects.count() == 1


def test_a_page_from_before_a_correction_is_not_told_that_its_decision_counts(
    disputed: BlindAnswer, lead: User, admin: User
) -> None:
    fields = {"key": uuid.uuid4(), "seen": [m.pk for m in newest_marks(disputed).values()]}
    decide(disputed, lead, ("3", "2", "4"), **fields)
    correct_final(
        disputed,
        admin,
        key=uuid.uuid4(),
        seen=fields["seen"],
        number=1,
        points=(Decimal(3), Decimal(3), Decimal(6)),
        reason=ArbitrationReason.SLIP,
        now=later(61),
    )
    with pytest.raises(Conflict, match="finalized in the meantime"):
        decide(disputed, lead, ("3", "2", "4"), **fields)
    assert disputed.finals.latest("number").value == 12


def test_a_second_lead_comes_too_late(disputed: BlindAnswer, lead: User, admin: User) -> None:
    seen = [mark.pk for mark in newest_marks(disputed).values()]
    decide(disputed, lead, ("3", "2", "4"))
    with pytest.raises(Conflict, match="finalized in the meantime"):
        decide(disputed, admin, ("0", "0", "0"), seen=seen)
    assert disputed.finals.get().value == 9


def test_nobody_decides_on_marks_that_were_revised_meanwhile(
    disputed: BlindAnswer, lead: User
) -> None:
    seen = [mark.pk for mark in newest_marks(disputed).values()]
    marked_again(disputed, planned_pair(disputed)[1], ["0", "0", "2"])
    with pytest.raises(Conflict, match="changed a mark"):
        decide(disputed, lead, ("3", "2", "4"), seen=seen)
    assert not disputed.finals.exists()


def test_who_marked_a_response_does_not_decide_it(disputed: BlindAnswer) -> None:
    first, _ = planned_pair(disputed)
    ensure_user(first.username, roles=[Role.TEACHER, Role.LEAD])
    with pytest.raises(NotAllowed, match="Another lead"):
        decide(disputed, User.objects.get(pk=first.pk), ("3", "2", "4"))
    slot = disputed.slots.get(kind=SlotKind.ARBITRATION)
    slot.holder = first
    with pytest.raises(IntegrityError), transaction.atomic():
        slot.save()


def test_what_never_came_to_arbitration_is_not_decided(
    teacher: User, other_teacher: User, lead: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    give(answer, teacher, ["1", "1", "1"])
    with pytest.raises(Conflict, match="not waiting for arbitration"):
        decide(answer, lead, ("1", "1", "1"))


def test_a_closed_round_is_not_decided(disputed: BlindAnswer, lead: User) -> None:
    close_round(disputed.round, acting_user=None, now=NOW)
    with pytest.raises(Conflict, match="round is closed"):
        decide(disputed, lead, ("3", "2", "4"))


@pytest.mark.parametrize("points", [("3", "2", "6.1"), ("3", "2"), ("4", "3", "6")])
def test_a_decision_has_to_fit_the_item_too(
    points: tuple[str, ...], disputed: BlindAnswer, lead: User
) -> None:
    with pytest.raises(BadInput):
        decide(disputed, lead, points)
    assert not disputed.finals.exists()
    assert not disputed.slots.get(kind=SlotKind.ARBITRATION).marked
