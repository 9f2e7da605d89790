"""Sending marks back: what falls, what stays, who marks again, and that nobody can tell."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

import pytest

from evaluations.marking.arbitration.selectors.arbitration import waiting_for
from evaluations.marking.arbitration.services import arbitrate
from evaluations.marking.desk.selectors.desk import desk_item
from evaluations.marking.desk.selectors.queue import slots_open_to
from evaluations.marking.desk.services.drafts import save_draft
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.slots import claim_next, skip
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope, outdated_rubrics
from evaluations.marking.monitoring.selectors.returning import ReturnChoice, preview_return
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS, marks_of_round
from evaluations.marking.rounds.selectors.rounds import teacher_loads
from evaluations.marking.services.finalizing import finalize_due, newest_marks
from evaluations.models import BlindAnswer, FinalMark, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import ArbitrationReason, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.models import Question, Rubric
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    held_slot,
    later,
    marked_again,
    planned_pair,
    slot_of,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric

pytestmark = pytest.mark.django_db
LOW, MIDDLE, HIGH = ("0", "0", "0"), ("3", "3", "0"), ("3", "3", "6")


@pytest.fixture
def pool(teacher: User, other_teacher: User, third_teacher: User) -> list[User]:
    return [teacher, other_teacher, third_teacher]


def of_three(pool: list[User], responses: int = 1) -> MarkingRound:
    return small_round(pool, responses, scheme=Scheme.THREE_AND_LEAD)


def both(answer: BlindAnswer, first: Sequence[str], second: Sequence[str]) -> tuple[User, User]:
    one, other = planned_pair(answer)
    give(answer, one, first)
    give(answer, other, second)
    answer.refresh_from_db()
    return one, other


def third(answer: BlindAnswer, pool: list[User], points: Sequence[str]) -> User:
    """The third mark, by whoever of the pool has no mark here yet."""
    taken = set(answer.slots.filter(marked=True).values_list("holder", flat=True))
    free = next(person for person in pool if person.pk not in taken)
    answer.slots.filter(kind=SlotKind.THIRD).update(holder=free, lease_until=later(30))
    give(answer, free, points)
    answer.refresh_from_db()
    return free


def decide(answer: BlindAnswer, lead: User, points: Sequence[str]) -> None:
    seen = [mark.pk for mark in newest_marks(answer).values()]
    arbitrate(
        answer, lead, key=uuid.uuid4(), seen=seen, points=[Decimal(p) for p in points],
        reason=ArbitrationReason.SLIP, now=NOW,
    )  # fmt: skip
    answer.refresh_from_db()


def back(
    made: MarkingRound, teacher: User, lead: User, *, to_others: bool = False, **choice: object
) -> tuple[int, int]:
    given = ReturnChoice(**{"since": datetime.fromtimestamp(0, NOW.tzinfo), **choice})  # type: ignore[arg-type]
    withdrawn = return_marks(
        made, teacher, given, to_others=to_others, acting_user=lead, now=later(5)
    )
    return len(withdrawn.marks), len(withdrawn.finals)


def final_of(answer: BlindAnswer) -> tuple[str, str] | None:
    answer.refresh_from_db()
    return (f"{answer.final.value:.2f}", answer.final.rule) if answer.final else None


def test_single_responses_go_back_and_their_teacher_alone_is_told(
    pool: list[User], lead: User
) -> None:
    made = of_three(pool, 3)
    teacher = pool[0]
    mine = [one for one in answers_of(made) if teacher in planned_pair(one)]
    for answer in mine:
        give(answer, teacher, MIDDLE)
    chosen = {"since": None, "aliases": [mine[0].alias, "R-none"]}
    preview = preview_return(made, teacher, ReturnChoice(**chosen))  # type: ignore[arg-type]
    assert [slot.answer for slot in preview.slots] == [mine[0]]
    assert back(made, teacher, lead, **chosen) == (1, 0)
    first, *others = [held_slot(answer, teacher) for answer in mine]
    assert desk_item(first, teacher).was_returned
    assert not first.marked
    assert all(slot.marked and not desk_item(slot, teacher).was_returned for slot in others)
    detail = AuditEntry.objects.latest("id").detail
    assert detail["responses"] == sorted(chosen["aliases"])  # type: ignore[arg-type]
    with pytest.raises(Conflict):
        back(made, teacher, lead, since=None, aliases=["R-none"])
    back(made, teacher, lead, since=None, aliases=[mine[1].alias], to_others=True)
    other = mine[1].slots.get(void_version=1)
    assert other.planned != teacher
    other.holder = other.planned
    assert not desk_item(other, other.planned).was_returned  # type: ignore[arg-type]


def test_a_mark_returned_falls_with_its_final_mark_and_is_finalized_again(
    pool: list[User], lead: User
) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, _other = both(answer, MIDDLE, MIDDLE)
    assert final_of(answer) == ("6.00", "mean of two")
    assert back(made, one, lead) == (1, 1)
    assert final_of(answer) is None
    assert FinalMark.objects.count() == 1  # what was is still there
    slot = slot_of(answer, SlotKind.FIRST)
    assert (slot.marked, slot.holder, slot.planned, slot.void_version) == (False, None, one, 1)
    give(answer, one, ("3", "3", "1"))
    assert final_of(answer) == ("6.50", "mean of two")
    assert list(answer.finals.values_list("number", flat=True)) == [1, 2]
    assert list(slot.marks.values_list("version", "total")) == [(1, 6), (2, 7)]


def test_what_was_returned_stands_in_the_audit_trail(pool: list[User], lead: User) -> None:
    made = of_three(pool, 2)
    answers = answers_of(made)
    marks = [give(answer, planned_pair(answer)[0], MIDDLE) for answer in answers]
    who = marks[0].teacher
    back(made, who, lead)
    entry = AuditEntry.objects.get(tag="round.marks_sent_back")
    expected = [mark.pk for mark in marks if mark.teacher == who]
    assert (entry.actor, entry.detail["teacher"], entry.detail["to"]) == (
        lead,
        who.username,
        "same",
    )
    assert (entry.detail["marks"], entry.detail["finals"]) == (expected, [])


def test_only_what_was_saved_since_then_goes_back(pool: list[User], lead: User) -> None:
    made = of_three(pool, 6)
    who = pool[0]
    own = [answer for answer in answers_of(made) if who in planned_pair(answer)]
    marks = [give(answer, who, MIDDLE) for answer in own]
    for hour, mark in enumerate(marks):
        Mark.objects.filter(pk=mark.pk).update(created_at=later(60 * hour))
    preview = preview_return(made, who, ReturnChoice(later(60)))
    assert (preview.marks, preview.finals, preview.kept) == (len(own) - 1, 0, 0)
    assert back(made, who, lead, since=later(60)) == (len(own) - 1, 0)
    assert slot_of(own[0], SlotKind.FIRST).marked or slot_of(own[0], SlotKind.SECOND).marked
    with pytest.raises(Conflict):
        back(made, who, lead, since=later(60))


def test_a_first_mark_returned_withdraws_the_third_that_nobody_has_begun(
    pool: list[User], lead: User
) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, _other = both(answer, LOW, MIDDLE)
    assert slot_of(answer, SlotKind.THIRD)
    back(made, one, lead)
    assert not answer.slots.filter(kind=SlotKind.THIRD).exists()
    give(answer, one, MIDDLE)
    assert final_of(answer) == ("6.00", "mean of two")


def test_a_third_mark_given_before_waits_and_counts_if_it_is_needed(
    pool: list[User], lead: User
) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, _other = both(answer, LOW, MIDDLE)
    third(answer, pool, ("3", "2", "0"))
    assert final_of(answer) == ("5.50", "mean of closest pair (2 and 3)")
    assert back(made, one, lead) == (1, 1)
    assert final_of(answer) is None  # second and third alone finalize nothing
    give(answer, one, HIGH)
    # 12, 6 and 5: beyond again, and 6 and 5 are closest
    assert final_of(answer) == ("5.50", "mean of closest pair (2 and 3)")


def test_a_third_mark_returned_is_given_again_by_who_gave_it(pool: list[User], lead: User) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    both(answer, LOW, MIDDLE)
    who = third(answer, pool, ("3", "3", "0"))
    assert back(made, who, lead) == (1, 1)
    slot = claimed(who, made)
    assert (slot.answer, slot.kind) == (answer, SlotKind.THIRD)
    give(answer, who, ("3", "3", "1"))
    assert final_of(answer) == ("6.50", "mean of closest pair (2 and 3)")


def test_a_third_mark_that_is_no_longer_needed_is_asked_for_where_it_was_given(
    pool: list[User], lead: User
) -> None:
    """All returned marks of a teacher come back at once, or the missing one was a third."""
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, other = both(answer, LOW, MIDDLE)
    who = third(answer, pool, ("3", "3", "0"))
    back(made, who, lead)
    back(made, one, lead)
    needless = slot_of(answer, SlotKind.THIRD)
    assert needless in slots_open_to(who, now=later(9))
    give(answer, one, MIDDLE)
    assert final_of(answer) == ("6.00", "mean of two")
    assert needless in slots_open_to(who, now=later(9))
    assert not slots_open_to(other, now=later(9)).exists()
    give(answer, who, HIGH)
    assert final_of(answer) == ("6.00", "mean of two")


def test_a_third_mark_that_is_skipped_when_it_is_no_longer_needed(
    pool: list[User], lead: User
) -> None:
    """It was at hand while the first mark was given again; the clock finalizes, not the skip."""
    made = of_three(pool)
    (answer,) = answers_of(made)
    one, two = planned_pair(answer)
    give(answer, one, LOW)
    give(answer, two, HIGH)
    (who,) = set(pool) - {one, two}
    slot = claimed(who, made, later(2))
    assert slot.kind == SlotKind.THIRD
    marked_again(answer, one, HIGH)
    finalize_due(made, now=later(4))
    assert final_of(answer) is None, "somebody is marking it"
    skip(slot, who, now=later(4))
    assert final_of(answer) is None
    finalize_due(made, now=later(5))
    assert final_of(answer) == ("12.00", "mean of two")
    assert not answer.slots.filter(kind=SlotKind.THIRD).exists()


def test_a_third_mark_beside_a_mean_of_two_is_given_again_and_the_mean_stays(
    pool: list[User], lead: User
) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, _other = both(answer, LOW, MIDDLE)
    who = third(answer, pool, ("3", "3", "0"))
    back(made, one, lead)
    give(answer, one, MIDDLE)
    assert final_of(answer) == ("6.00", "mean of two")
    assert back(made, who, lead) == (1, 0)
    assert final_of(answer) == ("6.00", "mean of two")
    assert claimed(who, made).answer == answer


def test_a_mark_under_a_decision_is_given_again_and_the_decision_stays(
    pool: list[User], lead: User
) -> None:
    """Its teacher cannot tell that the response was decided."""
    made = small_round(pool, scheme=Scheme.TWO_AND_LEAD)
    answer = answers_of(made)[0]
    one, _other = both(answer, LOW, MIDDLE)
    decide(answer, lead, HIGH)
    assert final_of(answer) == ("12.00", "arbitration")
    preview = preview_return(made, one, ReturnChoice(NOW.min.replace(tzinfo=NOW.tzinfo)))
    assert (preview.marks, preview.finals, preview.kept) == (1, 0, 1)
    assert back(made, one, lead) == (1, 0)
    assert final_of(answer) == ("12.00", "arbitration")
    give(answer, one, MIDDLE)
    finalize_due(made, now=later(60))
    assert final_of(answer) == ("12.00", "arbitration")
    assert not waiting_for(lead, made, NOW).exists()


def test_the_decision_is_withdrawn_too_when_chosen(pool: list[User], lead: User) -> None:
    made = small_round(pool, scheme=Scheme.TWO_AND_LEAD)
    answer = answers_of(made)[0]
    one, _other = both(answer, LOW, MIDDLE)
    decide(answer, lead, HIGH)
    assert back(made, one, lead, with_arbitrated=True) == (2, 1)
    assert not waiting_for(lead, made, NOW).exists()
    give(answer, one, LOW)
    assert final_of(answer) is None
    assert list(waiting_for(lead, made, NOW)) == [answer]
    decide(answer, lead, MIDDLE)
    assert final_of(answer) == ("6.00", "arbitration")
    assert slot_of(answer, SlotKind.ARBITRATION).marks.count() == 2


def test_a_decision_that_is_not_needed_again_waits_for_nobody(pool: list[User], lead: User) -> None:
    made = small_round(pool, scheme=Scheme.TWO_AND_LEAD)
    answer = answers_of(made)[0]
    one, _other = both(answer, LOW, MIDDLE)
    decide(answer, lead, HIGH)
    back(made, one, lead, with_arbitrated=True)
    give(answer, one, LOW)  # beyond: the decision is asked for again
    marked_again(answer, one, MIDDLE)
    assert final_of(answer) == ("6.00", "mean of two")
    assert not Slot.objects.filter(kind=SlotKind.ARBITRATION, marked=False).exists()


def test_others_mark_again_and_the_same_teacher_never_gets_it(pool: list[User], lead: User) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, other = both(answer, MIDDLE, MIDDLE)
    free = next(person for person in pool if person not in (one, other))
    back(made, one, lead, to_others=True)
    assert slot_of(answer, SlotKind.FIRST).planned == free
    assert claim_next(one, round=made, now=later(6)) is None
    assert claimed(free, made).answer == answer


def test_without_others_nothing_is_spread(teacher: User, other_teacher: User, lead: User) -> None:
    made = small_round([teacher, other_teacher])
    answer = answers_of(made)[0]
    one, other = both(answer, MIDDLE, MIDDLE)
    made.pool.filter(teacher=other).update(paused=True)
    with pytest.raises(BadInput):
        back(made, one, lead, to_others=True)
    assert final_of(answer) == ("6.00", "mean of two")


@pytest.mark.parametrize("same", [True, False])
def test_the_desk_shows_it_as_any_other_response(same: bool, pool: list[User], lead: User) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, other = both(answer, MIDDLE, MIDDLE)
    free = next(person for person in pool if person not in (one, other))
    fresh = desk_item(held_slot(answers_of(of_three(pool))[0], one), one)
    back(made, one, lead, to_others=not same)
    who = one if same else free
    slot = claimed(who, made, later(6))
    item = desk_item(slot, who)
    assert (item.version, item.marked_at, item.given) == (0, None, fresh.given)
    assert item.saves == (1 if same else 0)
    mark = save_mark(
        slot, who, key=uuid.uuid4(), based_on_version=0, now=later(6),
        points=[Decimal(3), Decimal(0), Decimal(0)],
    ).mark  # fmt: skip
    assert (mark.stale, mark.version, mark.own_version) == (False, 2, 1)


def test_a_page_from_before_cannot_bring_the_mark_back(pool: list[User], lead: User) -> None:
    made = of_three(pool)
    answer = answers_of(made)[0]
    one, _other = planned_pair(answer)
    slot = held_slot(answer, one)
    give(answer, one, MIDDLE)
    back(made, one, lead)
    with pytest.raises(NotFound):
        save_mark(
            slot, one, key=uuid.uuid4(), based_on_version=1, now=later(6),
            points=[Decimal(3), Decimal(0), Decimal(0)],
        )  # fmt: skip
    assert not Mark.objects.counting().exists()


def test_a_closed_round_stays_as_it_is(pool: list[User], lead: User) -> None:
    made = of_three(pool)
    one, _other = both(answers_of(made)[0], MIDDLE, MIDDLE)
    MarkingRound.objects.filter(pk=made.pk).update(status=RoundStatus.CLOSED)
    with pytest.raises(Conflict):
        back(made, one, lead)


# ---- a new rubric in the middle of a round ----


@pytest.fixture
def question() -> Question:
    return subjective_question()


def again(
    made: MarkingRound, question: Question, scope: RemarkScope, lead: User
) -> tuple[int, int, int]:
    moved = use_new_rubric(made, question, scope=scope, acting_user=lead, now=later(5))
    return moved.responses, len(moved.withdrawn.marks), len(moved.withdrawn.finals)


def newer(question: Question, points: str = "12") -> Rubric:
    return make_rubric(question, (("all of it", points),))


def test_with_one_mark_each_the_lead_chooses_what_is_marked_again(
    question: Question, teacher: User, lead: User
) -> None:
    made = small_round([teacher], 3, question=question, scheme=Scheme.SINGLE)
    finalized, marked, fresh = answers_of(made)
    give(finalized, teacher, MIDDLE)
    give(marked, teacher, MIDDLE)
    BlindAnswer.objects.filter(pk=marked.pk).update(final=None)
    assert outdated_rubrics(made) == []
    rubric = newer(question)
    (found,) = outdated_rubrics(made)
    counts = (found.unmarked, found.without_final, found.final, found.arbitrated)
    assert (found.frozen, found.newest, counts) == (1, rubric, (1, 1, 1, 0))
    assert again(made, question, RemarkScope.UNMARKED, lead) == (1, 0, 0)
    assert again(made, question, RemarkScope.WITHOUT_FINAL, lead) == (1, 1, 0)
    for answer, version in ((finalized, 1), (marked, 2), (fresh, 2)):
        answer.refresh_from_db()
        assert answer.rubric
        assert answer.rubric.version == version
    assert again(made, question, RemarkScope.ALL, lead) == (1, 1, 1)
    assert outdated_rubrics(made) == []
    with pytest.raises(Conflict):
        again(made, question, RemarkScope.ALL, lead)


def test_with_two_marks_all_responses_move_together(
    question: Question, pool: list[User], lead: User
) -> None:
    made = small_round(pool, 3, question=question)
    finalized, marked, _fresh = answers_of(made)
    both(finalized, MIDDLE, MIDDLE)
    give(marked, planned_pair(marked)[0], MIDDLE)
    newer(question)
    for scope in (RemarkScope.UNMARKED, RemarkScope.WITHOUT_FINAL):
        with pytest.raises(BadInput):
            again(made, question, scope, lead)
    assert again(made, question, RemarkScope.ALL, lead) == (3, 3, 1)
    assert outdated_rubrics(made) == []
    both(finalized, ["7"], ["8"])
    assert final_of(finalized) == ("7.50", "mean of two")
    versions = Mark.objects.filter(slot__answer=finalized).values_list("rubric__version", flat=True)
    assert sorted(versions) == [1, 1, 2, 2]


def test_what_is_at_hand_returns_and_its_draft_keeps_the_comment(
    question: Question, pool: list[User], lead: User
) -> None:
    made = small_round(pool, question=question)
    slot = claimed(pool[0], made)
    content = {"points": ["3", "3", "6"], "total": "", "comment": "clear", "flags": []}
    save_draft(slot, pool[0], sequence=1, content=content, now=NOW)
    newer(question)
    assert again(made, question, RemarkScope.ALL, lead) == (1, 0, 0)
    slot.refresh_from_db()
    assert (slot.holder, slot.lease_until) == (None, None)
    item = desk_item(claimed(pool[0], made), pool[0])
    assert (item.given.points, item.given.comment) == (("",), "clear")


def test_a_rubric_that_does_not_add_up_moves_nothing(
    question: Question, pool: list[User], lead: User
) -> None:
    made = small_round(pool, question=question)
    newer(question, "11")
    with pytest.raises(BadInput):
        again(made, question, RemarkScope.ALL, lead)


@pytest.mark.parametrize("how", ["deactivated", "no teacher any more"])
def test_marks_go_back_to_nobody_who_cannot_mark(how: str, pool: list[User], lead: User) -> None:
    made = of_three(pool, 6)
    alone = next(one for one in answers_of(made) if set(planned_pair(one)) == set(pool[:2]))
    for person in pool[:2]:
        give(alone, person, MIDDLE)
    gone = pool[2]
    if how == "deactivated":
        User.objects.filter(pk=gone.pk).update(is_active=False)
    else:
        gone.groups.clear()
    loads = {load.name: load.absent for load in teacher_loads(made)}
    assert loads == {str(person): person == gone for person in pool}
    with pytest.raises(BadInput, match="Nobody else in the round can mark"):
        back(made, pool[0], lead, to_others=True, since=None, aliases=[alone.alias])


def test_a_file_of_marks_says_which_count(pool: list[User], lead: User) -> None:
    """Revised, stale and returned ones do not; what was given again does."""
    made = small_round(pool[:2], 1, scheme=Scheme.MEAN, window_minutes=15)
    (answer,) = answers_of(made)
    one, other = planned_pair(answer)
    give(answer, one, LOW)
    with pytest.raises(Conflict, match="Both are kept"):
        give(answer, one, HIGH)  # from a page older than the mark
    give(answer, other, HIGH)

    def told(person: User) -> list[tuple[object, ...]]:
        rows = [dict(zip(MARK_COLUMNS, row, strict=True)) for row in marks_of_round(made)]
        own = [row for row in rows if row["teacher"] == person.username]
        return [(row["version"], row["stale"], row["counts"]) for row in own]

    stale = (1, "yes", "no")
    assert told(one) == [(1, "no", "yes"), stale]
    assert told(other) == [(1, "no", "yes")]
    give(answer, other, LOW, based_on_version=1)
    assert told(other) == [(1, "no", "no"), (2, "no", "yes")]
    marked_again(answer, one, MIDDLE)
    assert told(one) == [(1, "no", "no"), stale, (2, "no", "yes")]
    back(made, other, lead)
    assert told(other) == [(1, "no", "no"), (2, "no", "no")]
