"""Races on the real database: claims, double clicks, both teachers at once, two leads."""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from evaluations.marking.arbitration.services import (
    arbitrate,
    claim_case,
    correct_final,
    mark_before_seeing,
)
from evaluations.marking.desk.services.drafts import write_draft
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.passing import lose_passed, pass_by
from evaluations.marking.desk.services.slot_order import Claimable, Half
from evaluations.marking.desk.services.slots import claim_next, take
from evaluations.marking.services.finalizing import TEACHERS, finalize_due, newest_marks
from evaluations.marking.sheets.selectors import slots_on
from evaluations.models import ArbiterMark, BlindAnswer, FinalMark, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import ArbitrationReason, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotFound, Refusal
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    held_slot,
    later,
    planned_pair,
    small_round,
)
from tests.evaluations.sheet_world import taken
from tests.factories import make_user
from tests.faults.table import FaultRow
from tests.waiting import after

pytestmark = pytest.mark.django_db(transaction=True)
FULL = os.environ.get("GRADEAPP_FULL") == "yes"
ROUNDS = 500 if FULL else 12
WINDOWS = 8 if FULL else 2  # of each teacher, in each order
CLAIMS = 200


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What *calls* return or refuse, all started at the same moment, each on its own connection."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            barrier.wait()
            return call()
        except Refusal as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def teachers(number: int) -> list[User]:
    return [make_user(Role.TEACHER) for _ in range(number)]


def save(slot: Slot, person: User, values: Sequence[str], key: uuid.UUID | None = None) -> Mark:
    points = tuple(Decimal(value) for value in values)
    key = key or uuid.uuid4()
    return save_mark(slot, person, key=key, based_on_version=0, points=points, now=later(1)).mark


def decide(
    answer: BlindAnswer, lead: User, seen: Sequence[int], now: datetime | None = None
) -> Mark:
    given = {"reason": ArbitrationReason.SLIP, "points": (Decimal(3), Decimal(0), Decimal(0))}
    now = now or later(2)
    return arbitrate(answer, lead, key=uuid.uuid4(), seen=seen, now=now, **given)  # type: ignore[arg-type]


def test_one_response_is_claimed_by_one_teacher() -> None:
    people = teachers(6)
    made = small_round(people, 3, scheme=Scheme.SINGLE)
    claims = at_once(*[partial(claim_next, person, round=made, now=NOW) for person in people])
    got = [slot.pk for slot in claims if slot]
    assert len(got) == len(set(got)) == 3
    holders = dict(Slot.objects.values_list("pk", "holder"))
    for person, slot in zip(people, claims, strict=True):
        assert slot is None or holders[slot.pk] == person.pk


def test_two_windows_of_one_teacher_never_get_two_roles_on_one_response() -> None:
    people = teachers(2)
    made = small_round(people, 1)
    Slot.objects.update(planned=people[0])
    claims = at_once(*[partial(claim_next, people[0], round=made, now=NOW)] * 4)
    assert {slot for slot in claims if slot} == {Slot.objects.get(holder=people[0])}


def test_a_double_click_is_one_mark() -> None:
    people = teachers(2)
    for answer in answers_of(small_round(people, ROUNDS)):
        click = partial(save, held_slot(answer, people[0]), people[0], "111", uuid.uuid4())
        first, second = at_once(click, click)
        assert isinstance(first, Mark)
        assert first == second
    assert Mark.objects.count() == AuditEntry.objects.filter(tag="mark.saved").count() == ROUNDS


def test_one_key_for_two_responses_is_refused_for_the_second() -> None:
    person, other = teachers(2)
    one, two = answers_of(small_round([person, other], 2))
    for answer in (one, two):
        answer.slots.filter(kind=SlotKind.FIRST).update(planned=person)
        answer.slots.filter(kind=SlotKind.SECOND).update(planned=other)
    key, slots = uuid.uuid4(), [held_slot(answer, person) for answer in (one, two)]
    refused = after(
        lambda: save(slots[0], person, "111", key), lambda: save(slots[1], person, "111", key)
    )
    assert isinstance(refused, BadInput)
    assert (refused.code, Mark.objects.count()) == ("key_used", 1)


@pytest.mark.parametrize("what", ["decision", "correction", "before seeing"])
def test_one_key_of_a_lead_for_two_responses_is_refused_for_the_second(what: str) -> None:
    """It was a 500, or "You marked this response yourself"."""
    lead = make_user(Role.LEAD)
    people = teachers(2)
    made = small_round(people, 2, arbiter_marks_first=what == "before seeing")
    pair = answers_of(made)
    for answer in pair:
        for person, points in zip(planned_pair(answer), ("336", "000"), strict=True):
            give(answer, person, list(points))

    def decide(answer: BlindAnswer, key: uuid.UUID, points: str = "111") -> Any:
        given = {"key": key, "points": tuple(map(Decimal, points))}
        if what == "before seeing":
            return mark_before_seeing(answer, lead, **given)
        seen = [mark.pk for kind, mark in newest_marks(answer).items() if kind in TEACHERS]
        given |= {"seen": seen, "reason": ArbitrationReason.SLIP, "now": later(60)}
        if answer.final_id:
            return correct_final(answer, lead, number=1, **given)
        return arbitrate(answer, lead, **given)

    if what == "correction":
        for answer in pair:
            decide(answer, uuid.uuid4())
            answer.refresh_from_db()
    key = uuid.uuid4()
    refused = after(lambda: decide(pair[0], key, "222"), lambda: decide(pair[1], key, "222"))
    assert isinstance(refused, BadInput), refused
    assert refused.code == "key_used"
    with pytest.raises(BadInput, match="new submission id"):
        decide(pair[1], key, "222")
    table = ArbiterMark if what == "before seeing" else Mark
    assert table.objects.filter(key=key).count() == 1


def test_sheets_that_are_taken_at_once_hold_no_more_than_the_round_allows() -> None:
    people = teachers(2)
    made = small_round(people, 12)
    MarkingRound.objects.update(sheet_responses=4)
    made.refresh_from_db()
    refused = after(lambda: taken(made, people[0], 4), lambda: taken(made, people[0], 1))
    assert isinstance(refused, Conflict)
    assert Slot.objects.filter(holder=people[0]).count() == 4


def test_no_response_is_on_two_sheets_that_are_taken_at_once() -> None:
    people = teachers(2)
    made = small_round(people, 12)
    sheets = at_once(*[partial(taken, made, people[0], 4)] * 2)
    on_each = [set(slots_on(sheet, NOW).values_list("pk", flat=True)) for sheet in sheets]
    assert [len(slots) for slots in on_each] == [sheet.responses for sheet in sheets] == [4, 4]


def test_sheets_of_two_who_help_out_share_what_is_left() -> None:
    """What one of them loses to the other is on one sheet only, and each says how many it has."""
    people = teachers(3)
    made = small_round(people, 36, scheme=Scheme.SINGLE)
    own = Slot.objects.filter(answer__round=made)
    own.filter(planned=people[2], order__lt=6).update(kind=SlotKind.SEED)
    for person in people[:2]:
        own.filter(planned=person).update(marked=True, holder=person)
    sheets = at_once(*[partial(taken, made, person, 4) for person in people[:2]])
    on_each = [set(slots_on(sheet, NOW).values_list("pk", flat=True)) for sheet in sheets]
    assert [len(slots) for slots in on_each] == [sheet.responses for sheet in sheets]
    assert all(on_each)
    assert not on_each[0] & on_each[1]


def test_a_save_and_a_sheet_that_takes_the_same_response_never_block_each_other() -> None:
    """The save was refused: it held the response, and the sheet had the slot and wanted both."""
    person, other = teachers(2)
    (answer,) = answers_of(small_round([person, other], 1))
    slot = held_slot(answer, person)
    saved = after(
        lambda: taken(answer.round, person, 1), lambda: save(slot, person, ["1", "1", "1"])
    )
    assert isinstance(saved, Mark)
    assert AuditEntry.objects.filter(tag="sheet.taken").count() == 1


def test_those_who_leave_at_once_all_leave(lead: User) -> None:
    people = teachers(5)
    made = small_round(people, 5)
    for person in people:
        assert claim_next(person, round=made, now=NOW)
    at_once(*[partial(take_out, made, one, acting_user=lead, now=NOW) for one in people[:4]])
    assert made.pool.filter(left_at=NOW).count() == 4


@pytest.mark.parametrize(
    ("scheme", "opened"),
    [(Scheme.TWO_AND_LEAD, SlotKind.ARBITRATION), (Scheme.THREE_AND_LEAD, SlotKind.THIRD)],
)
@pytest.mark.parametrize("second_mark", ["000", "335"])
def test_both_teachers_at_once_finalize_exactly_once(
    scheme: Scheme, opened: SlotKind, second_mark: str
) -> None:
    made = small_round(teachers(3), ROUNDS, scheme=scheme)
    for answer in answers_of(made):
        first, second = planned_pair(answer)
        saved = at_once(
            partial(save, held_slot(answer, first), first, "336"),
            partial(save, held_slot(answer, second), second, second_mark),
        )
        assert all(isinstance(mark, Mark) for mark in saved)
    assert not FinalMark.objects.exists(), "the clock or a page of the lead finalizes, not a save"
    at_once(*[partial(finalize_due, made, now=later(2))] * 3)
    disputed = second_mark == "000"
    kinds = Counter(Slot.objects.values_list("kind", flat=True))
    assert kinds[opened] == (ROUNDS if disputed else 0)
    assert FinalMark.objects.count() == (0 if disputed else ROUNDS)
    assert Mark.objects.count() == 2 * ROUNDS


def test_two_windows_with_different_marks_keep_both() -> None:
    people = teachers(2)
    for answer in answers_of(small_round(people, ROUNDS, window_minutes=15)):
        slot = held_slot(answer, people[0])
        saved = at_once(*[partial(save, slot, people[0], values) for values in ("100", "200")])
        assert sum(isinstance(mark, Conflict) for mark in saved) == 1
        assert Mark.objects.filter(slot=slot, stale=False).count() == 1
        assert Mark.objects.filter(slot=slot, stale=True).count() == 1


def test_two_leads_decide_once() -> None:
    people, leads = teachers(2), [make_user(Role.LEAD) for _ in range(2)]
    for answer in answers_of(small_round(people, ROUNDS)):
        give(answer, people[0], list("336"))
        give(answer, people[1], list("000"))
        seen = [mark.pk for mark in newest_marks(answer).values()]
        decided = at_once(*[partial(decide, answer, lead, seen) for lead in leads])
        assert sum(isinstance(mark, Mark) for mark in decided) == 1
        assert sum(isinstance(mark, Conflict) for mark in decided) == 1
        assert answer.finals.count() == 1


def test_one_case_is_claimed_by_one_lead_and_decided_by_nobody_else() -> None:
    people, leads = teachers(2), [make_user(Role.LEAD) for _ in range(2)]
    (answer,) = answers_of(small_round(people, 1))
    give(answer, people[0], list("336"))
    give(answer, people[1], list("000"))
    seen = [mark.pk for mark in newest_marks(answer).values()]
    barrier = Barrier(2, timeout=60)

    def claims(lead: User) -> list[bool]:
        won = []
        for number in range(CLAIMS):
            barrier.wait()
            try:
                won.append(bool(claim_case(answer, lead, now=later(60 * number))))
            except Conflict:
                won.append(False)
        return won

    rounds = list(zip(*at_once(*[partial(claims, lead) for lead in leads]), strict=True))
    assert {tuple(sorted(won)) for won in rounds} == {(False, True)}
    now, won = later(60 * CLAIMS - 59), rounds[-1]
    loser, winner = (leads[won.index(was)] for was in (False, True))
    decided = at_once(*[partial(decide, answer, lead, seen, now) for lead in (loser, winner)])
    assert [isinstance(mark, Mark) for mark in decided] == [False, True]
    assert answer.finals.count() == 1


def test_first_drafts_that_race_leave_the_newest() -> None:
    people = teachers(2)
    for answer in answers_of(small_round(people, ROUNDS)):
        slot = held_slot(answer, people[0])
        at_once(*[partial(write_draft, slot, people[0], n, {"total": n}) for n in (3, 1, 2)])
        assert slot.drafts.get().sequence == 3


def test_saves_of_the_same_responses_in_opposite_order_never_block_each_other(
    fault_row: FaultRow,
) -> None:
    """R15, R52: every window of a teacher saves every response, half of them backwards."""
    people = teachers(2)
    answers = answers_of(small_round(people, 10, scheme=Scheme.TWO_AND_LEAD))
    slots = {person: [held_slot(answer, person) for answer in answers] for person in people}
    keys = {slot.pk: uuid.uuid4() for held in slots.values() for slot in held}

    def saves(person: User, backwards: bool) -> list[int]:
        values = "336" if person == people[0] else "000"
        held = reversed(slots[person]) if backwards else slots[person]
        return sorted(save(slot, person, values, keys[slot.pk]).pk for slot in held)

    windows = [(person, order) for person in people for order in (False, True)] * WINDOWS
    stored = at_once(*[partial(saves, *window) for window in windows])
    assert not [one for one in stored if isinstance(one, Refusal)]
    assert {tuple(one) for one in stored} == {
        tuple(sorted(Mark.objects.filter(teacher=person).values_list("pk", flat=True)))
        for person in people
    }
    assert Mark.objects.count() == 20
    finalize_due(answers[0].round, now=later(60))
    assert Slot.objects.filter(kind=SlotKind.ARBITRATION).count() == 10
    fault_row(
        "R15",
        f"{len(windows)} windows of two teachers save the same 10 responses, half backwards",
        database=f"{Mark.objects.count()} marks, 0 saves refused, 10 cases for the lead",
    )


def passed_by(slot: Slot, helper: User) -> bool:
    """Pass *slot*; whether that took it from who held it."""
    taken = Slot.objects.filter(holder=helper, marked=True).get()
    pass_by(
        [Claimable(slot.pk, slot.answer_id, 30, Half.OWN)],
        helper,
        taken.pk,
        many=True,
        now=later(40),
    )
    lose_passed(now=later(40))
    return Slot.objects.filter(pk=slot.pk, holder=None).exists()


@pytest.mark.parametrize("kind", ["response", "check"])
def test_a_save_and_a_helper_who_comes_at_that_moment_never_block_each_other(
    kind: str, teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """The lease has ended; one of the two has the response, and the other is told so."""
    people = [teacher, other_teacher, third_teacher]
    made = small_round(people, 3 * ROUNDS, scheme=Scheme.SINGLE)
    own = Slot.objects.filter(planned=teacher, answer__round=made)
    if kind == "check":
        own.update(kind=SlotKind.SEED)
    own.update(holder=teacher, lease_until=later(30))
    theirs = Slot.objects.filter(planned=other_teacher, answer__round=made)[0]
    give(theirs.answer, other_teacher, ["1", "1", "1"])
    outcomes = Counter[str]()
    for slot in own.select_related("answer__round").order_by("pk"):
        save = partial(
            save_mark, slot, teacher, key=uuid.uuid4(), based_on_version=0,
            points=[Decimal(1)] * 3, now=later(40),
        )  # fmt: skip
        if kind == "check":
            helper = partial(passed_by, slot, other_teacher)
        else:
            helper = partial(take, slot.pk, other_teacher, until=later(70), now=later(40))
        saved, went = at_once(save, helper)
        assert isinstance(saved, NotFound) == went
        outcomes[str(went)] += 1
    assert sum(outcomes.values()) == ROUNDS
