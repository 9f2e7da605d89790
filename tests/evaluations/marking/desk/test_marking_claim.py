"""The queue: who gets which response next, leases, skipping, and why there is nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest

from evaluations.marking.desk.selectors.queue import EmptyReason, why_empty
from evaluations.marking.desk.services.drafts import save_draft
from evaluations.marking.desk.services.slots import claim_next, skip, take
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import Draft, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    later,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db


def mark_all(slot: Slot, teacher: User) -> None:
    give(slot.answer, teacher, ["1", "1", "1"])


def test_own_responses_come_in_their_planned_order_block_by_block(
    teacher: User, other_teacher: User
) -> None:
    responses = responses_to(subjective_question(), 4) + responses_to(subjective_question(), 4)
    made = round_over(responses, [teacher, other_teacher])
    planned = Slot.objects.filter(planned=teacher).order_by("order")
    expected = list(planned.values_list("answer", flat=True))
    got, blocks = [], []
    for _ in expected:
        slot = claimed(teacher, made)
        got.append(slot.answer_id)
        blocks.append(slot.answer.question_id)
        mark_all(slot, teacher)
    assert got == expected
    assert sum(a != b for a, b in pairwise(blocks)) == 1


def test_what_is_at_hand_comes_back_first(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 3)
    first = claimed(teacher, made)
    assert claimed(teacher, made, later(5)) == first
    assert claimed(teacher, made, later(300)) == first  # an ended lease that nobody took


def test_a_lease_keeps_others_out_until_it_ends(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 1, scheme=Scheme.SINGLE)
    own = Slot.objects.get(answer__round=made).planned
    (other,) = {teacher, other_teacher} - {own}
    held = claimed(own, made)
    assert held.lease_until == later(30)
    assert claim_next(other, round=made, now=later(29)) is None
    empty = why_empty(other, made, later(29))
    assert (empty.reason, empty.until) == (EmptyReason.LEASED, later(30))
    assert claimed(other, made, later(30)) == held
    assert claim_next(own, round=made, now=later(31)) is None
    assert why_empty(own, made, later(31)).reason is EmptyReason.ALL_DONE, "it was theirs"


def test_an_abandoned_response_keeps_the_draft_of_its_teacher(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 1, scheme=Scheme.SINGLE)
    slot = claimed(teacher, made)
    save_draft(slot, teacher, sequence=1, content={"comment": "half way"}, now=NOW)
    claimed(other_teacher, made, later(60))
    assert Draft.objects.get(slot=slot, teacher=teacher).content["comment"] == "half way"


def test_a_draft_lengthens_the_lease(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 1, scheme=Scheme.SINGLE)
    slot = claimed(teacher, made)
    save_draft(slot, teacher, sequence=1, content={}, now=later(20))
    assert claim_next(other_teacher, round=made, now=later(49)) is None
    assert claimed(other_teacher, made, later(50)) == slot


def test_skipped_ones_come_last(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 3)
    order = list(
        Slot.objects.filter(planned=teacher).order_by("order").values_list("pk", flat=True)
    )
    got = []
    for minute in range(2):
        slot = claimed(teacher, made, later(minute))
        got.append(slot.pk)
        assert skip(slot, teacher, now=later(minute))
    for minute in range(3):
        slot = claimed(teacher, made, later(10 + minute))
        got.append(slot.pk)
        mark_all(slot, teacher)
    assert got == [order[0], order[1], order[2], order[0], order[1]]
    assert not skip(slot, teacher, now=later(20)), "what is marked cannot be skipped"


def test_who_is_done_takes_over_what_nobody_holds(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher, third_teacher], 6)
    own = Slot.objects.filter(planned=teacher).count()
    at_hand = claimed(other_teacher, made)
    marked = 0
    while slot := claim_next(teacher, round=made, now=NOW):
        assert slot != at_hand
        mark_all(slot, teacher)
        marked += 1
    assert marked > own
    roles = Slot.objects.filter(holder=teacher).values_list("answer", flat=True)
    assert len(roles) == len(set(roles)) == marked


def test_a_third_mark_waits_among_what_can_be_taken_over(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    markers = list(answer.slots.order_by("kind").values_list("planned", flat=True))
    for key, points in zip(markers, (["3", "3", "6"], ["0", "0", "0"]), strict=True):
        give(answer, User.objects.get(pk=key), points)
    (third,) = [person for person in people if person.pk not in markers]
    assert claimed(third, made).kind == SlotKind.THIRD
    for key in markers:
        assert claim_next(User.objects.get(pk=key), round=made, now=NOW) is None


def test_arbitration_is_never_in_a_teachers_queue(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 1)
    (answer,) = answers_of(made)
    for slot, points in zip(answer.slots.all(), (["3", "3", "6"], ["0", "0", "0"]), strict=True):
        give(answer, slot.planned, points)
    assert answer.slots.filter(kind=SlotKind.ARBITRATION).exists()
    assert all(claim_next(person, round=made, now=NOW) is None for person in people)


@pytest.mark.parametrize("change", ["paused", "outside", "closed"])
def test_no_work_for_the_paused_the_outside_and_the_closed(
    change: str, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 2)
    person = third_teacher if change == "outside" else teacher
    if change == "paused":
        made.pool.filter(teacher=teacher).update(paused=True)
        assert why_empty(teacher, made, NOW).reason == EmptyReason.PAUSED
    if change == "closed":
        close_round(made, acting_user=None, now=NOW)
    assert claim_next(person, round=made, now=NOW) is None


def test_a_round_closed_in_between_gives_nothing(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 1)
    slot = Slot.objects.filter(planned=teacher).get()
    close_round(made, acting_user=None, now=NOW)
    assert not take(slot.pk, teacher, until=later(30), now=NOW)


def test_a_second_role_is_refused_by_the_database(teacher: User, other_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 1)
    first, second = answers_of(made)[0].slots.all()
    assert take(first.pk, teacher, until=later(30), now=NOW)
    assert not take(second.pk, teacher, until=later(30), now=NOW)


def test_an_empty_queue_says_why(teacher: User, other_teacher: User, third_teacher: User) -> None:
    made = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(made)
    give(answer, teacher, ["3", "3", "6"])
    assert why_empty(teacher, made, NOW).reason == EmptyReason.ALL_DONE
    give(answer, other_teacher, ["0", "0", "0"])  # goes to the lead, which nobody is told
    assert why_empty(teacher, made, NOW).reason == EmptyReason.ALL_DONE
    assert why_empty(other_teacher, made, NOW).reason == EmptyReason.ALL_DONE
