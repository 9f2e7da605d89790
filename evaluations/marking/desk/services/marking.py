"""Saving a teacher's mark: checked, once only, never overwritten, revisable for a while."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from evaluations.marking.desk.selectors.desk import last_own_mark
from evaluations.marking.desk.services.drafts import end_draft, newest_sequence, write_draft
from evaluations.marking.desk.services.mark_rows import (
    GivenMark,
    as_details,
    check_given,
    current_mark,
    same_content,
    write_mark,
)
from evaluations.marking.desk.services.same_rubric import check_rubric, rubric_code
from evaluations.marking.desk.sql import Standing, locked_slot, mark_done, standing
from evaluations.marking.services.finalizing import close_windows
from evaluations.marking.services.holding import hold_rounds
from evaluations.models import Mark, MarkingRound, Slot
from evaluations.models.vocabulary import Flag, RoundStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed, NotFound
from gradeapp.common.submission_keys import submission_key


@dataclass(frozen=True, slots=True)
class SavedMark:
    """The stored mark; ``repeated`` when the same request had stored it before."""

    mark: Mark
    repeated: bool = False


def save_mark(
    slot: Slot,
    teacher: User,
    *,
    key: uuid.UUID,
    based_on_version: int,
    points: Sequence[Decimal] = (),
    total: Decimal | None = None,
    comment: str = "",
    flags: Sequence[Flag] = (),
    seconds: int | None = None,
    rubric: str = "",
    from_sheet: bool = False,
    entered_by: User | None = None,
    known_draft: int = 0,
    own_key: bool = False,
    now: datetime,
) -> SavedMark:
    """Store the mark that *teacher* gives to the response of *slot*.

    *points* are given per scoring point in the order of the rubric whose code is *rubric*;
    without a rubric *total* is given alone. *based_on_version* is the version that the page
    showed, 0 for none; a revision is a new version, in the time that the round gives for that
    from the first save on (none at all for a mark that is read *from_sheet*). What the partner
    did changes nothing of that: ``finalize_due`` does the rest when all that time is over. A used
    *key* with the content that counts is that mark; an *own_key*, which no second window has, with
    the content that it stored.

    *entered_by* is who enters the mark, where that is not the teacher; they may enter no other
    mark of the response. *known_draft* is the newest draft that the page knew: a newer one stays.

    Raises NotFound when the teacher does not hold it, NotAllowed for who entered or gave another
    mark of it or would change one of the teacher's, BadInput for a mark that does not fit, Conflict
    when the round is not open (kept as a draft, unless a file has the marks), the rubric is
    another, the mark cannot be revised, or the page was older (kept beside the mark).
    """
    given = GivenMark(tuple(points), total, comment.strip(), tuple(flags), seconds)
    entered_by = None if entered_by == teacher else entered_by
    with _unless_used(key), transaction.atomic():
        answer = (slot := _held(slot, teacher)).answer
        stored = standing(answer, key)
        earlier, key, stale = _earlier(key, given, slot, teacher, based_on_version, stored, own_key)
        stores = _stores(answer.round, stale=stale, from_sheet=from_sheet)
        if earlier is None and stores:
            refuse_second_entry(stored, slot, entered_by or teacher)
            check_rubric(answer, rubric)
            current = _revised(stored, slot, entered_by, stale, now)
            check_given(answer, given)
            window = None if from_sheet else _window(slot, current, now)
            mark = _store(
                slot, teacher, given, key=key, current=current, stale=stale, entered_by=entered_by
            )
            if not stale:
                _after(slot, mark, window=window, first=current is None, now=now)
                end_draft(slot, teacher.pk, up_to=known_draft, version=mark.own_version)
        elif earlier is None and not from_sheet:
            kept = _as_draft(slot, teacher, given, based_on_version, rubric, stale, known_draft)
    if earlier is None and not stores:
        raise not_open_for_sheets() if from_sheet else _not_open(slot, kept=kept, now=now)
    return _answer(earlier or mark, slot, repeated=earlier is not None, now=now)


@contextmanager
def _unless_used(key: uuid.UUID) -> Iterator[None]:
    """Raise BadInput where a save of another response stored *key* at the same moment."""
    try:
        yield
    except IntegrityError:
        if Mark.objects.filter(key=key).exists():
            raise _key_used() from None
        raise


def _key_used() -> BadInput:
    return BadInput(_("Use a new submission id for a new mark."), code="key_used")


def last_marked(teacher: User, marking_round: MarkingRound, before: Slot | None) -> Slot:
    """The response that *teacher* marked last; nothing is changed yet.

    While an own mark is looked at (*before*), it is the one marked before that.
    Raises Conflict when there is none.
    """
    slot = last_own_mark(teacher, marking_round, before)
    if slot is None:
        raise Conflict(_("You have no earlier mark in this round."), code="no_mark")
    return slot


def check_revisable(slot: Slot, now: datetime) -> None:
    """Raise Conflict when the mark of *slot* can only be read: its time for revising is over."""
    if slot.marked and not is_revisable(slot, now):
        raise _too_late()


def is_revisable(slot: Slot, now: datetime) -> bool:
    """Whether the teacher of *slot* can revise its mark now; the same for a check and any other."""
    return slot.revisable_until is not None and slot.revisable_until > now


def finish_revising(teacher: User, marking_round: MarkingRound, *, now: datetime) -> None:
    """End the time in which *teacher* can revise their marks in the round."""
    close_windows(Slot.objects.filter(holder=teacher, answer__round=marking_round), now=now)


def _held(slot: Slot, teacher: User) -> Slot:
    """Lock the response, keep its round, and return the slot if *teacher* has it now.

    An ended lease that nobody took is still theirs. *slot* gets the locked response too.
    """
    hold_rounds([slot.answer_id])
    held = locked_slot(slot.pk, teacher.pk)
    if held is None:
        raise NotFound(_("There is no such response, or it is no longer assigned to you."))
    if held.answer.rubric_id == slot.answer.rubric_id:
        held.answer.rubric = slot.answer.rubric  # read with the slot
    slot.answer = held.answer
    return held


def _earlier(
    key: uuid.UUID,
    given: GivenMark,
    slot: Slot,
    teacher: User,
    based_on_version: int,
    stored: Standing,
    own_key: bool,
) -> tuple[Mark | None, uuid.UUID, bool]:
    """What an equal request stored before, the key to store under, and whether the mark is stale.

    Two windows of one page have the same key. So under a used key whatever is not the mark that
    counts comes from an older page and is stale, also where an earlier version says the same: only
    an *own_key* tells that this is the request that stored it. A stale mark leaves the *key* that
    was sent to the mark that counts: a response whose mark was returned has the key of the pages
    before it. Its own is the same each time.
    """
    used = _on_it(stored, key)
    of_other = used.teacher_id != teacher.pk if used else stored.with_key is not None
    if of_other:
        raise _key_used()
    if used and (used.slot_id != slot.pk or used.stale):
        # Marks were returned, and this one has another role now: the page counts anew. Or a stale
        # mark has the key itself, as it had in earlier versions. The new key is told, and the slot
        # is not: from a plain hash anybody could find out its number.
        key = submission_key(key, slot.pk)
        used = _on_it(stored, key)
    stale_key = uuid.uuid5(key, repr((given.as_draft(), based_on_version)))
    current = _current(stored, slot) if slot.marked else None
    same = used if own_key else current
    if used and same and same_content(same, given):
        return same, key, False
    stale = bool(used) or based_on_version != (current.own_version if current else 0)
    return _on_it(stored, stale_key), stale_key if stale else key, stale


def _on_it(stored: Standing, key: uuid.UUID) -> Mark | None:
    """The mark of the response that has the *key*."""
    return next((mark for mark in stored.marks if mark.key == key), None)


def _counting(stored: Standing) -> list[Mark]:
    """The marks of a response that are neither stale nor returned, by version."""
    return [mark for mark in stored.marks if not mark.stale and mark.own_version > 0]


def _stores(marking_round: MarkingRound, *, stale: bool, from_sheet: bool) -> bool:
    """Whether a save is stored now: in a pause only one that is kept beside the mark."""
    kept_beside = stale and not from_sheet
    status = marking_round.status
    return status == RoundStatus.OPEN or (kept_beside and status == RoundStatus.PAUSED)


def _revised(
    stored: Standing, slot: Slot, entered_by: User | None, stale: bool, now: datetime
) -> Mark | None:
    """The version that a save revises or, *stale*, is kept beside; None for a first mark.

    Raises NotAllowed where the teacher gave it and *entered_by* would replace it, Conflict when
    its time is over, unless it would change nothing.
    """
    if not slot.marked:
        return None
    current = _current(stored, slot)
    if entered_by is not None:
        refuse_given_by_teacher(current)
    if current is not None and not stale and not is_revisable(slot, now):
        raise _too_late()
    return current


def refuse_given_by_teacher(current: Mark | None) -> None:
    """Raise NotAllowed if the teacher gave the *current* mark: nobody else changes it for them."""
    if current is not None and current.entered_by_id is None:
        raise NotAllowed(
            _("The teacher gave this mark. Only the teacher can change it."),
            code="given_by_teacher",
        )


def _current(stored: Standing, slot: Slot) -> Mark | None:
    """The version of the mark of *slot* that counts."""
    return next((mark for mark in _counting(stored)[::-1] if mark.slot_id == slot.pk), None)


def refuse_second_entry(stored: Standing, slot: Slot, person: User) -> None:
    """Raise NotAllowed if *person* entered or gave another mark of the response.

    What they entered for somebody counts in every version, also of a mark that was given again:
    they know what stood there. So does what they gave, where they enter a mark for somebody now;
    a teacher whose own mark was returned may have another role on the response by then. Nor is a
    mark entered for somebody again once another one counts, which may have been seen.
    """
    for_others = slot.holder_id != person.pk
    others = [mark for mark in stored.marks if mark.slot_id != slot.pk]
    gave = others if for_others else [mark for mark in _counting(stored) if mark in others]
    again = for_others and any(mark in others for mark in _counting(stored))
    seen = stored.marks if again else others
    if any(mark.entered_by_id == person.pk for mark in seen) or any(
        mark.teacher_id == person.pk for mark in gave
    ):
        raise second_entry()


def second_entry() -> NotAllowed:
    """The refusal of a second mark of one response from one person."""
    return NotAllowed(
        _("You have entered another mark for this response. Somebody else has to do this."),
        code="entered_other",
    )


def _too_late() -> Conflict:
    return Conflict(
        _("The time for changing this mark is over. The saved mark counts."), code="settled"
    )


def _window(slot: Slot, current: Mark | None, now: datetime) -> datetime | None:
    """Until when a mark saved now can be revised: a revision adds no time."""
    if current is not None:
        return slot.revisable_until
    minutes = slot.answer.round.window_minutes
    return now + timedelta(minutes=minutes) if minutes else None


def _not_open(slot: Slot, *, kept: bool, now: datetime) -> Conflict:
    if slot.answer.round.status == RoundStatus.PAUSED:
        sentence = _("The round is paused. Your marks are kept as a draft. Save them later.")
        if slot.marked and not is_revisable(slot, now):
            sentence = _(
                "The round is paused, and the time for changing this mark is over. The saved mark "
                "counts; your change is kept as a draft. Ask the lead."
            )
        return Conflict(sentence, code="round_paused")
    sentence = _("The round was closed. Your marks are kept as a draft. Ask the lead.")
    if not kept:
        sentence = _(
            "The round was closed. This page was out of date, so your marks were not saved. "
            "Ask the lead."
        )
    return Conflict(sentence, code="round_closed")


def not_open_for_sheets() -> Conflict:
    """The refusal of a filled sheet while its round is not open."""
    return Conflict(
        _("The round is not open, so marks cannot be saved. Keep your file and ask the lead."),
        code="round_not_open",
    )


def _store(
    slot: Slot,
    teacher: User,
    given: GivenMark,
    *,
    key: uuid.UUID,
    current: Mark | None,
    stale: bool,
    entered_by: User | None,
) -> Mark:
    """The version after the *current* one; or a stale mark that changes nothing."""
    version = current.version if current else slot.void_version
    number = version if stale else version + 1
    mark = write_mark(
        slot, teacher, given, version=number, stale=stale, key=key, entered_by=entered_by
    )
    tag = Tag.MARK_STALE if stale else Tag.MARK_REVISED if current else Tag.MARK_SAVED
    detail = {"answer": slot.answer.alias, "version": number, "total": str(mark.total)}
    detail |= {"teacher": teacher.username} if entered_by else {}
    record(tag, mark, actor=entered_by or teacher, **detail)
    return mark


def _after(slot: Slot, mark: Mark, *, window: datetime | None, first: bool, now: datetime) -> None:
    """What a saved *mark* leads to: its window, and the end of those of other blocks.

    Nothing is finalized here, so that the statements and the time of a save are the same whatever
    the partner did: the worker's clock does that, or a page that needs it (``finalize_due``).
    """
    teacher, answer = mark.teacher_id, slot.answer
    mark_done(slot, teacher, window, mark.entered_by_id)
    if first and answer.round.window_minutes and answer.round.window_ends_with_block:
        own = Slot.objects.filter(holder=teacher, answer__round=answer.round)
        close_windows(own.exclude(answer__question=answer.question_id), now=now)


def _answer(mark: Mark, slot: Slot, *, repeated: bool, now: datetime) -> SavedMark:
    """A stale mark is answered with both versions, also when it is sent again."""
    if not mark.stale:
        return SavedMark(mark, repeated)
    stored, over = current_mark(slot), slot.marked and not is_revisable(slot, now)
    sentence = _(
        "Another mark of yours for this response was saved before, perhaps in a second window. "
        "Both are kept. The one saved first counts until you decide."
    )
    if stored is None:
        sentence = _(
            "The lead has returned this response for re-marking, and this page is older. What you "
            "submitted is kept but does not count. Check it and save again."
        )
    elif stored.entered_by is not None:
        sentence = _(
            "%(name)s has entered a mark for you for this response. It counts, and what you "
            "submitted is kept beside it. Ask the lead."
        ) % {"name": stored.entered_by}
    elif over:
        sentence = _(
            "Another mark of yours for this response was saved before, and the time for changing "
            "it is over. It counts, and what you submitted is kept beside it. Ask the lead."
        )
    raise Conflict(
        sentence,
        code="settled" if over else "stale_version",
        stored=as_details(stored) if stored else None,
        sent=as_details(mark),
    )


def _as_draft(
    slot: Slot, teacher: User, given: GivenMark, version: int, rubric: str, stale: bool, known: int
) -> bool:
    """Keep what was sent as a draft; whether that was done.

    From an older page only where the mark was returned, over no draft newer than the *known* one.
    """
    newest = newest_sequence(slot, teacher)
    if stale and (slot.marked or newest > known):
        return False
    check_rubric(slot.answer, rubric)
    shown = {"version": 0 if stale else version, "rubric": rubric_code(slot.answer)}
    write_draft(slot, teacher, newest + 1, {**given.as_draft(), **shown})
    return True
