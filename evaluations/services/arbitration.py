"""The lead decides a response that the teachers' marks do not settle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from evaluations.models import BlindAnswer, Mark, Slot
from evaluations.models.vocabulary import ArbitrationReason, RoundStatus, SlotKind
from evaluations.services.mark_rows import GivenMark, check_given, same_content, write_mark
from evaluations.services.settling import lock, newest_marks, settle
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.refusals import BadInput, Conflict, NotAllowed, NotFound


def arbitrate(
    answer: BlindAnswer,
    lead: User,
    *,
    key: UUID,
    seen: Sequence[int],
    points: Sequence[Decimal] = (),
    total: Decimal | None = None,
    reason: ArbitrationReason,
    comment: str = "",
    now: datetime,
) -> Mark:
    """Store the lead's mark as final for a response that waits for arbitration.

    *seen* are the keys of the teachers' marks that the lead's page showed, so
    that a decision never rests on marks that were revised meanwhile. The same
    *key* with the same content is the same decision.

    Raises NotAllowed for a lead who marked this response, Conflict when it was
    settled or revised meanwhile or the round is closed, NotFound when it never
    came to arbitration, BadInput for a mark that does not fit.
    """
    given = GivenMark(tuple(points), total, comment.strip(), reason=reason)
    try:
        with transaction.atomic():
            locked = lock(answer.pk)
            if earlier := _earlier(key, given, locked, lead):
                return earlier
            _check(locked, lead, seen)
            check_given(locked, given)
            return _decide(locked, lead, given, key, now)
    except IntegrityError as error:  # one_role_per_person_and_response
        raise _own_mark() from error


def _decide(answer: BlindAnswer, lead: User, given: GivenMark, key: UUID, now: datetime) -> Mark:
    slot = answer.slots.get(kind=SlotKind.ARBITRATION)
    slot.answer, slot.holder, slot.marked = answer, lead, True
    slot.save(update_fields=["holder", "marked"])
    mark = write_mark(slot, lead, given, version=slot.void_version + 1, stale=False, key=key)
    record(Tag.ARBITRATED, mark, actor=lead, answer=answer.alias, total=str(mark.total))
    settle(answer, now=now)
    return mark


def _earlier(key: UUID, given: GivenMark, answer: BlindAnswer, lead: User) -> Mark | None:
    """The decision that an equal request stored before."""
    mark = Mark.objects.filter(key=key).select_related("slot").prefetch_related("points").first()
    if mark is None:
        return None
    if mark.slot.answer_id != answer.pk or mark.teacher_id != lead.pk:
        raise BadInput(_("Send a new key with a new mark."), code="key_used")
    return mark if same_content(mark, given) else None


def _check(answer: BlindAnswer, lead: User, seen: Sequence[int]) -> None:
    """Whether this lead may decide this response, now and on these marks."""
    if answer.slots.filter(holder=lead).exclude(kind=SlotKind.ARBITRATION).exists():
        raise _own_mark()
    if answer.final_id is not None:
        raise Conflict(_("This response has been settled meanwhile."), code="settled")
    if answer.round.status != RoundStatus.OPEN:
        raise Conflict(_("The round is closed."), code="round_closed")
    if not Slot.objects.filter(answer=answer, kind=SlotKind.ARBITRATION, marked=False).exists():
        raise NotFound(_("This response does not wait for a decision."))
    if {mark.pk for mark in newest_marks(answer).values()} != set(seen):
        raise Conflict(
            _("A teacher revised a mark while you looked at it. See the new marks, then decide."),
            code="marks_changed",
        )


def _own_mark() -> NotAllowed:
    return NotAllowed(
        _("You marked this response yourself; another lead has to decide."), code="own_mark"
    )
