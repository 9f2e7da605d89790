"""Saving a teacher's mark: checked, once only, never overwritten, then finalized."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.marking.desk.selectors.desk import last_own_mark
from evaluations.marking.desk.services.drafts import write_draft
from evaluations.marking.desk.services.mark_rows import (
    GivenMark,
    as_details,
    check_given,
    current_mark,
    same_content,
    write_mark,
)
from evaluations.marking.services.finalizing import finalize_with, lock, newest_marks
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import CHECK_KINDS, Flag, RoundStatus, SlotKind
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotFound


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
    now: datetime,
) -> SavedMark:
    """Store the mark that *teacher* gives to the response of *slot*, and finalize it.

    *points* are given per scoring point in the rubric's order; without a rubric
    *total* is given alone. *based_on_version* is the version that the page
    showed, 0 for none; a revision is a new version, until the response is
    finalized. The same *key* with the same content is the same mark.

    Raises NotFound when the teacher does not hold the response, BadInput for a
    mark that does not fit, Conflict when the round is closed or paused (the marks
    are kept as a draft), the response is finalized, or the page was older than the stored
    version: then what was sent is kept as a stale mark beside the stored one.
    """
    given = GivenMark(tuple(points), total, comment.strip(), tuple(flags), seconds)
    with transaction.atomic():
        answer = lock(slot.answer_id)
        slot = _held(slot, teacher, answer)
        earlier, key, reused = _earlier(key, given, slot, teacher)
        is_open = answer.round.status == RoundStatus.OPEN
        if earlier is None and is_open:
            _refuse_unless_markable(answer, given)
            marks = _marks_beside(slot)
            current = marks.get(SlotKind(slot.kind))
            shown = current.version - slot.void_version if current else 0
            stale = reused or based_on_version != shown
            mark = _store(slot, teacher, given, key=key, marks=marks, stale=stale, now=now)
        elif earlier is None:
            content = {**given.as_draft(), "version": based_on_version}
            write_draft(slot, teacher, _next_sequence(slot, teacher), content)
    if earlier is None and not is_open:
        raise _not_open(answer.round)
    return _answer(earlier or mark, repeated=earlier is not None)


def last_marked(teacher: User, marking_round: MarkingRound, before: Slot | None) -> Slot:
    """The response that *teacher* marked last; nothing is changed yet.

    While an own mark is looked at (*before*), it is the one marked before that.
    Raises Conflict when there is none.
    """
    slot = last_own_mark(teacher, marking_round, before)
    if slot is None:
        raise Conflict(_("You have no earlier mark in this round."), code="no_mark")
    return slot


def check_revisable(slot: Slot) -> None:
    """Raise Conflict when the response of *slot* is finalized: its marks can only be read."""
    if slot.answer.final_id is not None:
        raise _counted()


def _held(slot: Slot, teacher: User, answer: BlindAnswer) -> Slot:
    """The slot if *teacher* has it now; an ended lease that nobody took is still theirs."""
    held = Slot.objects.filter(pk=slot.pk, holder=teacher).first()
    if held is None:
        raise NotFound(_("There is no such response, or it is no longer assigned to you."))
    held.answer = answer
    return held


def _earlier(
    key: uuid.UUID, given: GivenMark, slot: Slot, teacher: User
) -> tuple[Mark | None, uuid.UUID, bool]:
    """What an equal request stored before, the key to store under, and whether *key* is used.

    Other content under a used key comes from a page that is older than the
    stored mark; it is kept under a key of its own, the same one each time.
    """
    stored = Mark.objects.filter(key=key).first()
    if stored is None:
        return None, key, False
    if (stored.slot_id, stored.teacher_id) != (slot.pk, teacher.pk):
        if stored.teacher_id == teacher.pk and stored.slot.answer_id == slot.answer_id:
            # Marks were returned, and this one has another role now: the page counts anew.
            return _earlier(uuid.uuid5(key, f"slot {slot.pk}"), given, slot, teacher)
        raise BadInput(_("Use a new submission id for a new mark."), code="key_used")
    if same_content(stored, given):
        return stored, key, True
    own_key = uuid.uuid5(key, repr(given.as_draft()))
    return Mark.objects.filter(key=own_key).first(), own_key, True


def _refuse_unless_markable(answer: BlindAnswer, given: GivenMark) -> None:
    if answer.final_id is not None:
        raise _counted()
    check_given(answer, given)


def _counted() -> Conflict:
    return Conflict(_("This mark already counts and can no longer be changed."), code="settled")


def _not_open(marking_round: MarkingRound) -> Conflict:
    if marking_round.status == RoundStatus.PAUSED:
        sentence = _("The round is paused. Your marks are kept as a draft. Save them later.")
        return Conflict(sentence, code="round_paused")
    sentence = _("The round was closed. Your marks are kept as a draft. Ask the lead.")
    return Conflict(sentence, code="round_closed")


def _store(
    slot: Slot,
    teacher: User,
    given: GivenMark,
    *,
    key: uuid.UUID,
    marks: Mapping[SlotKind, Mark],
    stale: bool,
    now: datetime,
) -> Mark:
    """The next version, which is finalized at once; or a stale mark that changes nothing."""
    kind = SlotKind(slot.kind)
    version = marks[kind].version if kind in marks else slot.void_version
    number = version if stale else version + 1
    mark = write_mark(slot, teacher, given, version=number, stale=stale, key=key)
    detail = {"answer": slot.answer.alias, "version": number, "total": str(mark.total)}
    if stale:
        record(Tag.MARK_STALE, mark, actor=teacher, **detail)
        return mark
    Slot.objects.filter(pk=slot.pk).update(marked=True, lease_until=None)
    Draft.objects.filter(slot=slot, teacher=teacher).delete()
    record(Tag.MARK_REVISED if kind in marks else Tag.MARK_SAVED, mark, actor=teacher, **detail)
    if kind not in CHECK_KINDS:
        finalize_with(slot.answer, {**marks, kind: mark}, now=now)
    return mark


def _marks_beside(slot: Slot) -> dict[SlotKind, Mark]:
    """The marks that count with that of *slot*; a check stands alone."""
    if slot.kind not in CHECK_KINDS:
        return newest_marks(slot.answer)
    own = current_mark(slot)
    return {SlotKind(slot.kind): own} if own else {}


def _answer(mark: Mark, *, repeated: bool) -> SavedMark:
    """A stale mark is answered with both versions, also when it is sent again."""
    if not mark.stale:
        return SavedMark(mark, repeated)
    stored = current_mark(mark.slot)
    raise Conflict(
        _(
            "Another mark of yours for this response was saved before, perhaps in a "
            "second window. Both are kept. The one saved first counts until you "
            "decide."
        ),
        code="stale_version",
        stored=as_details(stored) if stored else None,
        sent=as_details(mark),
    )


def _next_sequence(slot: Slot, teacher: User) -> int:
    newest = Draft.objects.filter(slot=slot, teacher=teacher).values_list("sequence", flat=True)
    return max(newest, default=0) + 1
