"""Cases are claimed by one lead; a final mark is corrected by one that follows it."""

from __future__ import annotations

import uuid
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from evaluations.marking.arbitration.selectors.arbitration import queue_around, waiting_for
from evaluations.marking.arbitration.services import arbitrate, claim_case, correct_final
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.marking.services.finalizing import newest_marks
from evaluations.models import BlindAnswer, FinalMark, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import ArbitrationReason, SlotKind
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed, NotFound
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    later,
    marked_again,
    planned_pair,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
SLIP = ArbitrationReason.SLIP


def disputed(people: list[User], number: int = 1, **settings: Any) -> list[BlindAnswer]:
    """Responses with 12 and 0 of 12 points: beyond the tolerance of 1."""
    answers = answers_of(small_round(people, number, **settings))
    for answer in answers:
        first, second = planned_pair(answer)
        give(answer, first, ["3", "3", "6"])
        give(answer, second, ["0", "0", "0"])
    return answers


@pytest.fixture
def case(teacher: User, other_teacher: User) -> BlindAnswer:
    return disputed([teacher, other_teacher])[0]


@pytest.fixture
def finalized(teacher: User, other_teacher: User) -> BlindAnswer:
    """A response whose marks, 12 and 11, were finalized by their mean."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    first, second = planned_pair(answer)
    give(answer, first, ["3", "3", "6"])
    give(answer, second, ["3", "2", "6"])
    answer.refresh_from_db()
    return answer


def seen(answer: BlindAnswer) -> list[int]:
    marks = newest_marks(answer)
    return [mark.pk for kind, mark in marks.items() if kind is not SlotKind.ARBITRATION]


def values(*points: str) -> tuple[Decimal, ...]:
    return tuple(Decimal(point) for point in points)


def decide(answer: BlindAnswer, lead: User, *points: str, **fields: Any) -> Mark:
    given = {"key": uuid.uuid4(), "seen": seen(answer), "reason": SLIP, "now": later(5)}
    return arbitrate(answer, lead, points=values(*points), **(given | fields))


def correct(answer: BlindAnswer, lead: User, *points: str, **fields: Any) -> Mark:
    given = {"key": uuid.uuid4(), "seen": seen(answer), "number": 1, "reason": SLIP}
    given |= {"now": later(90)}
    return correct_final(answer, lead, points=values(*points), **(given | fields))


# ---- claims ----


def test_a_claimed_case_is_one_leads_until_the_lease_ends(
    case: BlindAnswer, lead: User, admin: User
) -> None:
    assert claim_case(case, lead, now=NOW) == later(30)
    with pytest.raises(Conflict, match="Another lead is working on this response"):
        claim_case(case, admin, now=later(29))
    assert claim_case(case, lead, now=later(10)) == later(40), "asked again, it is lengthened"
    assert claim_case(case, admin, now=later(40)) == later(70), "an ended lease returns by itself"


def test_the_queue_of_another_lead_leaves_a_claimed_case_out(
    case: BlindAnswer, lead: User, admin: User
) -> None:
    claim_case(case, lead, now=NOW)
    waits = [waiting_for(person, case.round, later(1)).count() for person in (lead, admin)]
    assert waits == [1, 0]
    assert queue_around(admin, case.round, None, later(31)).waiting == 1


def test_a_late_decision_of_the_lead_who_lost_the_claim_is_refused(
    case: BlindAnswer, lead: User, admin: User
) -> None:
    claim_case(case, lead, now=NOW)
    claim_case(case, admin, now=later(31))
    with pytest.raises(Conflict) as refused:
        decide(case, lead, "3", "2", "4", now=later(32))
    assert refused.value.code == "claimed"
    assert not case.finals.exists()
    assert decide(case, admin, "3", "2", "4", now=later(33)).total == 9


def test_without_a_claim_and_after_its_end_a_lead_still_decides(
    teacher: User, other_teacher: User, lead: User
) -> None:
    one, other = disputed([teacher, other_teacher], 2)
    assert decide(one, lead, "3", "2", "4").total == 9
    claim_case(other, lead, now=NOW)
    assert decide(other, lead, "3", "2", "4", now=later(500)).total == 9


def test_what_was_marked_is_not_claimed_by_its_marker_nor_what_does_not_wait(
    case: BlindAnswer, finalized: BlindAnswer, lead: User
) -> None:
    first, _ = planned_pair(case)
    with pytest.raises(NotAllowed):
        claim_case(case, first, now=NOW)
    with pytest.raises(NotFound):
        claim_case(finalized, lead, now=NOW)


# ---- the mean of the closest pair ----


def test_the_mean_of_the_pair_may_lie_between_two_steps(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """3 + 3 + 6 and 2.5 + 0 + 0.5 of 12: means 2.75, 1.5 and 3.25, together 7.5."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    first, second = planned_pair(answer)
    give(answer, first, ["3", "3", "6"])
    give(answer, second, ["2.5", "0", "0.5"])
    with pytest.raises(BadInput, match=r"not a multiple of 0\.5"):
        decide(answer, lead, "2.75", "1.5", "3.75")
    assert decide(answer, lead, "2.75", "1.5", "3.25").total == Decimal("7.5")
    assert answer.finals.get().rule == "arbitration"


def test_the_mean_of_two_totals_without_a_rubric(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], question=subjective_question(rubric=()))
    (answer,) = answers_of(made)
    first, second = planned_pair(answer)
    give(answer, first, "12")
    give(answer, second, "2.5")
    mark = decide(answer, lead, total=Decimal("7.25"))
    assert (mark.total, answer.finals.get().value) == (Decimal("7.25"), Decimal("7.25"))


# ---- corrections ----


def test_a_correction_follows_the_final_mark_and_nothing_is_lost(
    finalized: BlindAnswer, lead: User
) -> None:
    mark = correct(finalized, lead, "3", "2", "4", comment="the units are missing")
    finalized.refresh_from_db()
    rows = list(finalized.finals.values_list("number", "value", "rule"))
    assert rows == [(1, Decimal("11.5"), "mean of two"), (2, Decimal(9), "arbitration")]
    assert finalized.final == finalized.finals.get(number=2)
    assert list(finalized.final.marks.all()) == [mark]
    assert FinalMark.objects.counting().count() == 1
    entry = AuditEntry.objects.get(tag="mark.corrected")
    assert entry.actor == lead
    changed = {"answer": finalized.alias, "from": "11.5", "to": "9", "reason": "slip"}
    assert entry.detail == changed


def test_a_correction_counts_at_once_while_a_mark_can_be_revised(
    case: BlindAnswer, lead: User
) -> None:
    """The mark was returned and given again; what a lead decides rests on none of them."""
    MarkingRound.objects.filter(pk=case.round_id).update(window_minutes=15)
    decision = decide(case, lead, "3", "3", "6", now=later(2))
    marked_again(answers_of(case.round)[0], planned_pair(case)[0], ["3", "2", "6"])
    correct(case, lead, "0", "0", "0", now=later(4))
    case.refresh_from_db()
    assert case.final
    assert (case.final.number, case.final.value) == (2, 0)
    with pytest.raises(BadInput, match="new submission id"):
        correct(case, lead, "1", "0", "0", number=2, key=decision.key, now=later(5))


def test_a_decision_can_be_corrected_by_another_lead(
    case: BlindAnswer, lead: User, admin: User
) -> None:
    first = decide(case, lead, "3", "2", "4")
    second = correct(case, admin, "3", "3", "4")
    assert [(first.version, first.teacher), (second.version, second.teacher)] == [
        (1, lead),
        (2, admin),
    ]
    case.refresh_from_db()
    assert case.final
    assert (case.final.number, case.final.value) == (2, 10)


def test_a_correction_sent_twice_is_one(finalized: BlindAnswer, lead: User) -> None:
    send = partial(correct, finalized, lead, "3", "2", "4", key=uuid.uuid4())
    assert send() == send()
    assert finalized.finals.count() == 2


def test_two_corrections_of_one_final_mark_are_not_both_stored(
    finalized: BlindAnswer, lead: User, admin: User
) -> None:
    correct(finalized, lead, "3", "2", "4")
    with pytest.raises(Conflict, match="final mark has been changed"):
        correct(finalized, admin, "0", "0", "0")
    assert correct(finalized, admin, "0", "0", "0", number=2).total == 0


def test_who_may_not_correct_and_when(
    finalized: BlindAnswer, case: BlindAnswer, lead: User
) -> None:
    with pytest.raises(NotAllowed):
        correct(finalized, planned_pair(finalized)[0], "3", "2", "4")
    with pytest.raises(BadInput, match="above its maximum of 3"):
        correct(finalized, lead, "4", "2", "4")
    with pytest.raises(Conflict, match="final mark has been changed"):
        correct(case, lead, "3", "2", "4")
    close_round(finalized.round, acting_user=None, now=NOW)
    with pytest.raises(Conflict, match="round is closed"):
        correct(finalized, lead, "3", "2", "4")
    assert finalized.finals.count() == 1
    assert not Slot.objects.filter(answer=finalized, kind=SlotKind.ARBITRATION).exists()
