"""Who helps out learns of no response which marks it has, and of no mark that it is a third one."""

from __future__ import annotations

import os
from collections import Counter
from datetime import datetime

import pytest
from django.db import connection, transaction
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluations.marking.desk.selectors.desk import desk_item, own_slot, slot_to_save
from evaluations.marking.desk.selectors.desk_home import home_rounds
from evaluations.marking.desk.selectors.queue import has_work, slots_open_to, why_empty
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.passing import lose_passed, pass_by
from evaluations.marking.desk.services.slot_order import (
    MOST_ASIDE,
    Claimable,
    Half,
    claimable_slots,
)
from evaluations.marking.desk.services.slots import asked_for, claim_next, skip
from evaluations.marking.desk.sql import locked_slot, own_counts
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.monitoring import pause_teacher
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import add_teachers
from evaluations.marking.sheets.rules.sheet_rows import FilledRow
from evaluations.marking.sheets.selectors import slots_on
from evaluations.marking.sheets.services.marking_sheets import return_sheet, take_sheet
from evaluations.marking.sheets.services.sheet_reading import check_rows
from evaluations.models import HelpOffer, MarkingRound, Slot
from evaluations.models.vocabulary import CHECK_KINDS, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.conftest import make_user
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    held_slot,
    later,
    planned_pair,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)

pytestmark = pytest.mark.django_db
APART = (["3", "3", "6"], ["0", "0", "0"])
SOON = later(1)
EVERYTHING = ReturnChoice(since=datetime.fromtimestamp(0, NOW.tzinfo))


@pytest.fixture
def fourth_teacher(db: None) -> User:
    return make_user(Role.TEACHER, "zoe")


def looked_through(teacher: User, made: MarkingRound, number: int) -> list[int]:
    """The responses that *teacher* is given one after the other, and skips."""
    given = []
    for minute in range(number):
        slot = claimed(teacher, made, later(2 + minute))
        given.append(slot.answer_id)
        assert skip(slot, teacher, now=later(2 + minute))
    return given


def helper_of(made: MarkingRound, people: list[User]) -> User:
    """The first of *people* without a planned mark on the only response."""
    planned = Slot.objects.filter(answer__round=made).values_list("planned", flat=True)
    return next(one for one in people if one.pk not in planned)


def test_who_helps_out_sees_no_number_of_missing_marks(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A response comes once, whether one of its marks is missing or both; few are put aside."""
    made = small_round([teacher, other_teacher, third_teacher], 15)
    while (slot := claimed(third_teacher, made)).planned == third_teacher:
        give(slot.answer, third_teacher, ["1", "1", "1"])
    assert skip(slot, third_teacher, now=later(1))
    left = made.answers.exclude(slots__holder=third_teacher).exclude(pk=slot.answer_id)
    give(left[0], planned_pair(left[0])[0], ["1", "1", "1"])
    given = looked_through(third_teacher, made, 2 * MOST_ASIDE)
    first = [slot.answer_id, *given][:MOST_ASIDE]
    assert len(left) >= MOST_ASIDE
    assert len(set(first)) == MOST_ASIDE
    assert [slot.answer_id, *given] == [*first, *first, first[0]]


@pytest.mark.parametrize("how", ["skipped", "left"])
def test_a_third_mark_is_by_nobody_who_was_shown_the_response_before(
    how: str, teacher: User, other_teacher: User, third_teacher: User, fourth_teacher: User
) -> None:
    """By skipping while they help out, or by a lease that ends; somebody else gets it."""
    people = [teacher, other_teacher, third_teacher, fourth_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    pair = planned_pair(answer)
    helper, other = (one for one in people if one not in pair)
    slot = claimed(helper, made)
    if how == "skipped":
        assert skip(slot, helper, now=later(1))
    else:
        assert slot.planned
        assert claimed(slot.planned, made, later(31)) == slot
    for person, points in zip(pair, APART, strict=True):
        give(answer, person, points, now=later(32))
    assert answer.slots.filter(kind=SlotKind.THIRD).exists()
    assert claim_next(helper, round=made, now=later(40)) is None
    assert claimed(other, made, later(40)).kind == SlotKind.THIRD
    assert skip(answer.slots.get(holder=other), other, now=later(41))
    assert claimed(other, made, later(42)).kind == SlotKind.THIRD, "nothing was missing before"


def test_the_lead_decides_where_everybody_left_was_shown_the_response(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    pair = planned_pair(answer)
    helper = helper_of(made, people)
    assert skip(claimed(helper, made), helper, now=later(1))
    for person, points in zip(pair, APART, strict=True):
        give(answer, person, points, now=later(2))
    assert not answer.slots.filter(kind=SlotKind.THIRD).exists()
    assert answer.slots.filter(kind=SlotKind.ARBITRATION, marked=False).exists()


def test_an_own_response_that_a_colleague_took_over_does_not_come_back_as_a_third(
    teacher: User, other_teacher: User, third_teacher: User, fourth_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher, fourth_teacher]
    made = small_round(people, 1, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    first, second = planned_pair(answer)
    assert skip(held_slot(answer, first), first, now=later(1))
    helper = helper_of(made, people)
    held_slot(answer, second)  # or the helper might give that one
    assert claimed(helper, made, later(2)).planned == first
    for person, points in zip((helper, second), APART, strict=True):
        give(answer, person, points, now=later(3))
    assert answer.slots.filter(kind=SlotKind.THIRD).exists()
    assert claim_next(first, round=made, now=later(4)) is None
    assert HelpOffer.objects.filter(answer=answer).count() == 2


def with_checks(
    made: MarkingRound, teacher: User, *places: int, helper: User | None = None
) -> list[Slot]:
    """Make checks of what stands at *places* of the teacher's queue; all of the queue.

    A *helper* comes to one of them early, whatever keys the rows have.
    """
    own = list(Slot.objects.filter(planned=teacher, answer__round=made).order_by("order"))
    for place in places:
        own[place].answer.slots.exclude(pk=own[place].pk).delete()
        Slot.objects.filter(pk=own[place].pk).update(kind=SlotKind.SEED)
    if helper and places:
        made.hidden_seed = next(seed for seed in range(200) if _comes_early(made, helper, seed))
        made.save(update_fields=["hidden_seed"])
    return list(Slot.objects.filter(planned=teacher, answer__round=made).order_by("order"))


def _comes_early(made: MarkingRound, helper: User, seed: int) -> bool:
    """Whether a check is among the first three that *helper* comes to as *seed* draws them."""
    made.hidden_seed = seed
    own = set(Slot.objects.filter(planned=helper).values_list("pk", flat=True))
    order = [one for one in claimable_slots(helper, made, NOW) if one.slot not in own]
    return any(one.to_pass for one in order[:3])


def mark_all(people: list[User], made: MarkingRound, now: datetime = SOON) -> None:
    """Let *people* mark whatever they are given."""
    for person in people:
        while slot := claim_next(person, round=made, now=now):
            give(slot.answer, person, ["1", "1", "1"], now=now)


def ordinary(teacher: User, made: MarkingRound) -> QuerySet[Slot]:
    """What is left for *teacher* that is no check."""
    own = Slot.objects.filter(planned=teacher, answer__round=made, marked=False)
    return own.exclude(kind__in=CHECK_KINDS)


@pytest.mark.parametrize("first", ["nothing", "some put aside", "some marked, the rest put aside"])
def test_what_helpers_leave_of_a_queue_is_not_its_checks(
    first: str, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """Whoever helps out passes the checks that they come to; counts and home say the same."""
    made = small_round([teacher, other_teacher, third_teacher], 12)
    own = with_checks(made, teacher, 2, 3)
    planned = own_counts(teacher.pk, NOW)[made.pk]
    for place, _slot in enumerate(own if first != "nothing" else ()):
        slot = claimed(teacher, made, later(place))
        if first.startswith("some marked") and place < 2:
            give(slot.answer, teacher, ["1", "1", "1"], now=later(place))
        elif first.startswith("some marked") or place < 4:
            assert skip(slot, teacher, now=later(place))
        else:
            break
    mark_all([other_teacher, third_teacher], made, later(60 * 24))
    over = later(60 * 24 + 3)
    done = Slot.objects.filter(planned=teacher, holder=teacher, marked=True).count()
    assert not ordinary(teacher, made).exists()
    assert claim_next(teacher, round=made, now=over) is None
    assert not has_work(teacher, made, over)
    assert (planned, own_counts(teacher.pk, over)[made.pk]) == ((0, len(own)), (done, 0))


def test_a_count_says_nothing_of_what_helpers_passed(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    made = small_round([teacher, other_teacher, third_teacher], 12)
    own = with_checks(made, teacher, 2, 3)
    at_hand = claimed(teacher, made, NOW)
    mark_all([other_teacher, third_teacher], made)
    assert Slot.objects.filter(passed_at__isnull=False, planned=teacher).count() == 2
    assert own_counts(teacher.pk, later(4))[made.pk] == (0, len(own))
    give(at_hand.answer, teacher, ["1", "1", "1"], now=later(4))
    assert own_counts(teacher.pk, later(4))[made.pk] == (1, 0)


def told(teacher: User, made: MarkingRound, now: datetime) -> list[object]:
    """What the page of the round says of what is left."""
    work = has_work(teacher, made, now)
    return [work, own_counts(teacher.pk, now)[made.pk], work or why_empty(teacher, made, now)]


@pytest.mark.parametrize("scheme", [Scheme.SINGLE, Scheme.TWO_AND_LEAD])
def test_the_last_response_goes_to_a_helper_as_a_check_does(
    scheme: Scheme, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """Put aside, and all others marked: whatever it is, it is gone when a helper comes to it."""
    worlds = []
    for is_check in (False, True):
        before = transaction.savepoint()
        made = small_round([teacher, other_teacher, third_teacher], 12, scheme=scheme)
        last = claimed(teacher, made)
        assert skip(last, teacher, now=later(1))
        if is_check:
            with_checks(made, teacher, 0)
        while (slot := claimed(teacher, made, later(2))) != last:
            give(slot.answer, teacher, ["1", "1", "1"], now=later(2))
        assert skip(slot, teacher, now=later(3))
        seen = [told(teacher, made, later(3))]
        for person in (other_teacher, third_teacher):
            while slot := claim_next(person, round=made, now=later(4)):
                if slot == last:
                    break  # it stays at hand
                give(slot.answer, person, ["1", "1", "1"], now=later(4))
        worlds.append([*seen, told(teacher, made, later(7)), told(teacher, made, later(33))])
        transaction.savepoint_rollback(before)
    assert worlds[0] == worlds[1]
    assert [told_[0] for told_ in worlds[0]] == [True, False, False]


def test_in_a_pause_nobody_passes_a_check(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Nobody takes a response then, whether the round is paused or who helps out."""
    made = small_round([teacher, other_teacher, third_teacher], 12)
    with_checks(made, teacher, 2, 3)
    pause_teacher(made, third_teacher, reason="tea", acting_user=lead, now=NOW)
    assert claim_next(third_teacher, round=made, now=SOON) is None
    MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.PAUSED)
    made.refresh_from_db()
    assert claim_next(other_teacher, round=made, now=SOON) is None
    check = Slot.objects.filter(kind=SlotKind.SEED).first()
    assert check is not None
    to_pass = [Claimable(check.pk, check.answer_id, 30, Half.OWN)]
    pass_by(to_pass, other_teacher, check.pk, many=False, now=SOON)
    assert not Slot.objects.filter(passed_at__isnull=False).exists()


def test_who_gives_the_other_mark_passes_no_check(teacher: User, other_teacher: User) -> None:
    """With two teachers nobody can help out, and no check is lost; of one mark anybody can."""
    for scheme, left in ((Scheme.TWO_AND_LEAD, 2), (Scheme.SINGLE, 0)):
        made = small_round([teacher, other_teacher], 12, scheme=scheme)
        with_checks(made, teacher, 0, 1)
        mark_all([other_teacher], made)
        kept = Slot.objects.filter(planned=teacher, kind=SlotKind.SEED, answer__round=made)
        assert kept.filter(passed_at=None).count() == left
        assert ordinary(teacher, made).exists() is (left > 0)


def test_checks_are_passed_in_turn_with_the_responses_of_a_queue(
    teacher: User, other_teacher: User
) -> None:
    """Not all before them, nor all after: what is left in the middle of it tells nothing."""
    made = small_round([teacher, other_teacher], 40, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 20, 2))
    while claimed(other_teacher, made).planned != teacher:
        slot = Slot.objects.get(holder=other_teacher, marked=False)
        give(slot.answer, other_teacher, ["1", "1", "1"])
    left = []
    for _response in range(8):
        left.append(Slot.objects.filter(kind=SlotKind.SEED, passed_at=None).count())
        slot = Slot.objects.get(holder=other_teacher, marked=False)
        give(slot.answer, other_teacher, ["1", "1", "1"])
        claimed(other_teacher, made)
    assert left == sorted(left, reverse=True)
    assert len(set(left)) > 2


@pytest.mark.parametrize("away", ["sheet", "lease"])
def test_what_helpers_leave_of_what_was_at_hand_is_not_its_checks(
    away: str, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A check that its teacher held can be passed when the time is over, at all doors."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9)
    own = with_checks(made, teacher, 2)
    check = own[2]
    over = later(60 * 24 * 2)
    soon_over = later(60 * 24 * 2 - 3)
    if away == "sheet":
        until = timezone.localdate(NOW)
        sheet = take_sheet(
            made, teacher, responses=len(own), until=until, acting_user=teacher, now=NOW
        )
    else:
        Slot.objects.filter(planned=teacher).update(holder=teacher, lease_until=later(30))
    assert own_counts(teacher.pk, SOON)[made.pk] == (0, len(own))
    mark_all(people[1:], made)
    check.refresh_from_db()
    assert (check.holder, check.passed_at) == (teacher, None), "at hand"
    mark_all(people[1:], made, soon_over)
    assert not ordinary(teacher, made).exists()
    lose_passed(now=over)
    check.refresh_from_db()
    assert (check.holder, check.marked) == (None, False)
    assert HelpOffer.objects.filter(answer=check.answer, teacher=teacher).exists()
    assert own_counts(teacher.pk, over)[made.pk] == (0, 0)
    assert not has_work(teacher, made, over)
    assert claim_next(teacher, round=made, now=over) is None
    assert own_slot(teacher, check.answer.public_id) is None
    assert slot_to_save(teacher, check.answer.public_id) is None
    assert locked_slot(check.pk, teacher.pk) is None
    if away == "sheet":
        assert not slots_on(sheet, over).exists()
        row = FilledRow(
            2, str(sheet.public_id), str(check.answer.public_id), "0", ("1",), "", "", ""
        )
        (read,) = check_rows(sheet, [row], now=over)
        assert read.sentence == "There is no such response, or it is no longer assigned to you."


def test_a_returned_check_comes_back_whatever_became_of_the_responses_around_it(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Also where another marked the one before it, that the teacher had put aside."""
    made = small_round([teacher, other_teacher, third_teacher], 9)
    own = with_checks(made, teacher, 1)
    assert skip(claimed(teacher, made), teacher, now=later(1))
    check = claimed(teacher, made, later(2))
    assert check == own[1]
    for slot in (check, own[2]):
        give(slot.answer, teacher, ["1", "1", "1"], now=later(3))
    mark_all([other_teacher, third_teacher], made, later(4))
    own[0].refresh_from_db()
    assert own[0].marked
    assert own[0].holder != teacher
    return_marks(made, teacher, EVERYTHING, to_others=False, acting_user=lead, now=later(5))
    assert claimed(teacher, made, later(6)) == check


def test_responses_that_leave_a_plan_leave_no_check_behind(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Those who marked a whole queue get their marks back: its check comes to nobody then."""
    made = small_round([teacher, other_teacher, third_teacher], 9)
    with_checks(made, teacher, 1)
    mark_all([other_teacher, third_teacher], made)
    assert not ordinary(teacher, made).exists()
    for person in (other_teacher, third_teacher):
        return_marks(made, person, EVERYTHING, to_others=False, acting_user=lead, now=later(5))
    assert not slots_open_to(teacher, made, now=later(8)).filter(kind__in=CHECK_KINDS).exists()


def test_what_colleagues_took_away_leaves_no_check_alone(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A sheet takes the responses of others as the desk does."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 9)
    with_checks(made, teacher, 1)
    until = timezone.localdate(NOW)
    for person in people[1:]:
        take_sheet(made, person, responses=30, until=until, acting_user=person, now=NOW)
    assert not ordinary(teacher, made).filter(holder=None).exists()
    assert not has_work(teacher, made, later(1))
    assert claim_next(teacher, round=made, now=later(1)) is None


def seen_all(teacher: User, made: MarkingRound) -> set[int]:
    """What the teacher sees by putting the whole own queue aside."""
    own = Slot.objects.filter(planned=teacher, answer__round=made).count()
    seen = set()
    for _place in range(own):
        slot = claimed(teacher, made, later(1))
        seen.add(slot.answer_id)
        assert skip(slot, teacher, now=later(1))
    return seen


def met_again(teacher: User, made: MarkingRound, now: datetime) -> set[int]:
    """What the teacher is given then, marking all of it."""
    again = set()
    while slot := claim_next(teacher, round=made, now=now):
        again.add(slot.answer_id)
        give(slot.answer, teacher, ["1", "1", "1"], now=now)
    return again


@pytest.mark.parametrize("taken_out", [False, True])
def test_of_what_goes_to_a_newcomer_no_response_comes_again(
    taken_out: bool,
    teacher: User,
    other_teacher: User,
    third_teacher: User,
    fourth_teacher: User,
    lead: User,
) -> None:
    """Of what the teacher has seen: a check that is given up would not come again either."""
    made = small_round([teacher, other_teacher, third_teacher], 30)
    with_checks(made, teacher, *range(1, 16, 4))
    seen = seen_all(teacher, made)
    add_teachers(made, [fourth_teacher], acting_user=None)
    own = Slot.objects.filter(planned=teacher, answer__round=made)
    gone = seen - set(own.values_list("answer", flat=True))
    assert gone
    if taken_out:
        take_out(made, fourth_teacher, acting_user=lead, now=later(2))
    assert not gone & met_again(teacher, made, later(2))


@pytest.mark.parametrize("scheme", [Scheme.SINGLE, Scheme.TWO_AND_LEAD])
@pytest.mark.parametrize("how", ["given back", "left"])
def test_what_helpers_give_back_comes_back_with_the_checks_that_they_passed(
    how: str, scheme: Scheme, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """A sheet that is given back at once, or forgotten, takes nothing from anybody."""
    made = small_round([teacher, other_teacher, third_teacher], 24, scheme=scheme)
    with_checks(made, teacher, *range(1, 8, 2), helper=other_teacher)
    for person in (other_teacher, third_teacher):
        while (slot := claimed(person, made, later(1))).planned == person:
            give(slot.answer, person, ["1", "1", "1"], now=later(1))
        assert skip(slot, person, now=later(1))
    seen = seen_all(teacher, made)
    before = own_counts(teacher.pk, later(2))
    until, found = timezone.localdate(NOW), set[int]()
    for person in (other_teacher, third_teacher):
        sheet = take_sheet(made, person, responses=3, until=until, acting_user=person, now=later(2))
        gone = Slot.objects.filter(passed_with__isnull=False, planned=teacher)
        found |= set(gone.values_list("pk", flat=True))
        lose_passed(now=later(2))
        if how == "given back":
            return_sheet(sheet, acting_user=person, now=later(3))
    assert found
    over = later(60 * 24 * 2)
    assert own_counts(teacher.pk, over) == before
    places = set(Slot.objects.filter(pk__in=found).values_list("skipped_at", flat=True))
    assert places == {later(3) if how == "given back" else None}, "as what was given back"
    assert seen <= met_again(teacher, made, over)


def test_what_a_helper_left_brings_back_what_was_passed_with_it_alone(
    teacher: User, other_teacher: User
) -> None:
    """All that was passed before stays with what the helper marked then."""
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 10, 2), helper=other_teacher)
    earlier: set[int] = set()
    while not earlier:
        slot = claimed(other_teacher, made, later(1))
        passed = Slot.objects.filter(passed_with__isnull=False).exclude(passed_with=slot)
        earlier = set(passed.values_list("pk", flat=True))
        if not earlier:
            give(slot.answer, other_teacher, ["1", "1", "1"], now=later(1))
    assert skip(slot, other_teacher, now=later(2))
    open_to_them = slots_open_to(teacher, made, now=later(3)).filter(kind__in=CHECK_KINDS)
    assert not earlier & set(open_to_them.values_list("pk", flat=True))


@pytest.mark.parametrize("how", ["marked", "put aside"])
def test_what_is_passed_with_one_response_goes_alone_and_for_good(
    how: str, teacher: User, other_teacher: User
) -> None:
    """What vanished or came back together, or vanished twice, would be a check."""
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 10, 2), helper=other_teacher)
    while not (passed := Slot.objects.filter(passed_at__isnull=False, planned=teacher)).exists():
        slot = claimed(other_teacher, made, later(1))
        if not passed.exists():
            give(slot.answer, other_teacher, ["1", "1", "1"], now=later(1))
    keys = set(passed.values_list("pk", flat=True))
    times = set(passed.values_list("passed_at", flat=True))
    assert len(times) == len(keys), "one by one"
    assert later(1) < min(times) <= max(times) <= later(3)

    def left(now: datetime) -> set[int]:
        """Which of them *teacher* can have, by the queue and by their addresses."""
        open_to_them = slots_open_to(teacher, made, now=now).filter(pk__in=keys)
        found = set(open_to_them.values_list("pk", flat=True))
        held = Slot.objects.filter(pk__in=keys, holder=teacher)
        for slot in held.select_related("answer"):
            asked = asked_for(teacher, own_slot, slot.answer.public_id, now=now)
            assert (asked is not None) == (slot.pk in found)
        return found

    assert left(later(1)) == keys
    assert not left(later(4))
    if how == "put aside":
        assert skip(slot, other_teacher, now=later(5))
    else:
        give(slot.answer, other_teacher, ["1", "1", "1"], now=later(5))
    assert not left(later(6))


def test_what_is_given_back_before_its_check_is_lost_takes_nothing(
    teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 10, 2), helper=other_teacher)
    passed = Slot.objects.filter(passed_at__isnull=False, planned=teacher)
    while not passed.exists():
        slot = claimed(other_teacher, made, later(1))
        if not passed.exists():
            give(slot.answer, other_teacher, ["1", "1", "1"], now=later(1))
    assert skip(slot, other_teacher, now=later(1))
    assert not passed.exists()


def test_what_a_teacher_has_at_hand_is_theirs_until_somebody_helps_again(
    teacher: User, other_teacher: User
) -> None:
    """Let go, nothing vanishes while nobody takes a response, in the night for instance."""
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    own = with_checks(made, teacher, 0, helper=other_teacher)
    help_until_passed(own[0], other_teacher, made, 1)
    assert claimed(teacher, made, later(1)) == own[0]
    address = own[0].answer.public_id
    assert asked_for(teacher, own_slot, address, now=later(5)) == own[0]
    assert claimed(teacher, made, later(5)) == own[0]
    assert skip(own[0], teacher, now=later(5))
    lose_passed(now=later(400))
    left = slots_open_to(teacher, made, now=later(400)).filter(pk=own[0].pk)
    assert left.exists()
    help_until_passed(own[0], other_teacher, made, 400)
    assert not slots_open_to(teacher, made, now=later(403)).filter(pk=own[0].pk).exists()


def help_until_passed(slot: Slot, helper: User, made: MarkingRound, minute: float) -> None:
    """*helper* marks one response after the other until *slot* was passed with the last one."""
    slot.refresh_from_db()
    while slot.passed_at is None:
        given = claimed(helper, made, later(minute))
        give(given.answer, helper, ["1", "1", "1"], now=later(minute))
        slot.refresh_from_db()


def test_a_check_is_passed_with_a_response_to_its_question(
    teacher: User, other_teacher: User
) -> None:
    """Rubrics change by question, and the own count with them."""
    chosen = [one for _n in range(3) for one in responses_to(subjective_question(), 12)]
    made = round_over(chosen, [teacher, other_teacher], scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(0, 18, 2))
    mark_all([other_teacher], made)
    passed = Slot.objects.filter(passed_with__isnull=False)
    columns = ("answer__question", "passed_with__answer__question")
    assert passed.count() == 9
    assert all(own == other for own, other in passed.values_list(*columns))


def test_a_check_is_lost_to_who_helped_and_to_nobody_else(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """The helper lets a response go, and its own teacher marks it: nobody has helped."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 30, scheme=Scheme.SINGLE)
    with_checks(made, teacher, *range(10))
    until = timezone.localdate(NOW)
    take_sheet(made, third_teacher, responses=30, until=until, acting_user=teacher, now=NOW)
    check = Slot.objects.filter(passed_with__planned=other_teacher).first()
    assert check is not None
    slot = check.passed_with
    assert slot is not None
    # Its own teacher puts it aside first: the place of the check stays as it is.
    Slot.objects.filter(pk=slot.pk).update(holder=other_teacher, lease_until=later(90))
    assert skip(slot, other_teacher, now=later(59))
    check.refresh_from_db()
    assert check.skipped_at is None
    give_to(slot, other_teacher, later(60))
    assert check in slots_open_to(teacher, made, now=later(61))


def give_to(slot: Slot, person: User, now: datetime) -> None:
    """Let *person* claim the slot, whose lease has ended, and mark it."""
    Slot.objects.filter(pk=slot.pk).update(holder=person, lease_until=now)
    give(slot.answer, person, ["1", "1", "1"], now=now)


def test_of_what_helpers_took_no_response_comes_again(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Their marks are returned to them: a check that they passed would not come again either."""
    made = small_round([teacher, other_teacher, third_teacher], 24)
    with_checks(made, teacher, *range(1, 16, 4))
    seen = seen_all(teacher, made)
    helpers = [other_teacher, third_teacher]
    mark_all(helpers, made, later(2))
    assert not ordinary(teacher, made).exists()
    for person in helpers:
        return_marks(made, person, EVERYTHING, to_others=False, acting_user=lead, now=later(6))
    assert not seen & met_again(teacher, made, later(7))


def test_who_gets_a_response_that_another_marked_sees_nothing_of_it(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """Neither on the home page, nor by how many statements it takes."""
    people = [teacher, other_teacher, third_teacher]
    told = []
    for returned in (False, True):
        before = transaction.savepoint()
        made = small_round(people, 12, scheme=Scheme.SINGLE)
        mine = Slot.objects.filter(planned=teacher, answer__round=made).order_by("order")[0]
        theirs = Slot.objects.filter(planned=other_teacher, answer__round=made)[0]
        give(theirs.answer, other_teacher, ["1", "1", "1"])  # the rubric is in memory
        if returned:
            Slot.objects.filter(pk=mine.pk).update(planned=other_teacher)
            give(mine.answer, other_teacher, ["1", "1", "1"], now=NOW)
            choice = ReturnChoice(aliases=[mine.answer.alias])
            return_marks(made, other_teacher, choice, to_others=False, acting_user=lead, now=NOW)
            Slot.objects.filter(pk=mine.pk).update(planned=teacher, order=mine.order)
        with CaptureQueriesContext(connection) as of_claim:
            slot = claimed(teacher, made)
        assert slot == mine
        with CaptureQueriesContext(connection) as of_item:
            item = desk_item(slot, teacher)
        (home,) = home_rounds(teacher, NOW)
        told.append((len(of_claim), len(of_item), item.saves, item.version, home.returned))
        transaction.savepoint_rollback(before)
    assert told[0] == told[1]


@pytest.mark.parametrize(
    ("begun", "place", "on_sheet"),
    [(0, 0, False), (100, 3, False), (8, 3, True)],
    ids=["not begun", "through", "on a sheet, half way"],
)
def test_checks_are_gone_as_often_as_responses(
    begun: int,
    place: int,
    on_sheet: bool,
    teacher: User,
    other_teacher: User,
    third_teacher: User,
    fourth_teacher: User,
) -> None:
    """One helper goes through a round of two marks, whoever has the queue, however far others are.

    Of a response without both of its marks a helper gives either; with two others besides the
    helper, a third of each is out of reach. ``GRADEAPP_FULL=yes`` goes through more rounds.
    """
    people = [teacher, other_teacher, third_teacher, fourth_teacher]
    whose, helper = people[place], people[1]
    gone, of = Counter[bool](), Counter[bool]()
    rounds = 10 if os.environ.get("GRADEAPP_FULL") == "yes" else 2
    for seed in range(rounds):
        made = small_round(people, 60, hidden_seed=seed)
        own = with_checks(made, whose, *range(0, 30, 2))
        for person in set(people) - {whose, helper}:
            for _response in range(begun):
                slot = claim_next(person, round=made, now=SOON)
                if slot is None or slot.planned != person:
                    break
                give(slot.answer, person, ["1", "1", "1"])
        Slot.objects.filter(answer__round=made).exclude(marked=True).update(
            holder=None, lease_until=None
        )
        HelpOffer.objects.filter(answer__round=made).delete()
        if on_sheet:
            made.sheet_responses = 200
            given = {"until": timezone.localdate(NOW), "acting_user": helper, "now": later(2)}
            sheet = take_sheet(made, helper, responses=200, **given)
            slots_on(sheet, later(2)).update(marked=True)
        mark_all([helper], made, later(2))
        for slot in own:
            slot.refresh_from_db()
            is_check = slot.kind in CHECK_KINDS
            of[is_check] += 1
            gone[is_check] += slot.passed_with is not None or slot.marked
    rates = [gone[kind] / of[kind] for kind in (False, True)]
    assert min(of.values()) == 15 * rounds
    assert abs(rates[0] - rates[1]) < 0.25, rates
    assert min(rates) > 0.12, rates
