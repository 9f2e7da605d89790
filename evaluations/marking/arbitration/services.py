"""The lead decides a response that the teachers' marks do not finalize."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from evaluations.marking.arbitration.rules.closest_pair import TeacherMark, closest_pair
from evaluations.marking.arbitration.selectors.arbitration import mark_before
from evaluations.marking.arbitration.selectors.seen_marks import may_have_seen
from evaluations.marking.desk.selectors.queue import free_for
from evaluations.marking.desk.selectors.roles import OwnRole, own_role
from evaluations.marking.desk.services.mark_rows import (
    GivenMark,
    check_given,
    frozen_rubric,
    same_content,
    write_mark,
)
from evaluations.marking.desk.services.same_rubric import check_rubric
from evaluations.marking.rules.point_marks import MarkFault
from evaluations.marking.services.finalizing import TEACHERS, finalize, lock, newest_marks
from evaluations.models import ArbiterMark, BlindAnswer, FinalMark, Mark, Slot
from evaluations.models.vocabulary import LIVE, AnswerRole, ArbitrationReason, SlotKind
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.leases import SLOT
from gradeapp.common.locking import hold_key
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed, NotFound

OFF_STEP = frozenset({MarkFault.NOT_A_STEP.value, MarkFault.POINT_NOT_A_STEP.value})


def claim_case(answer: BlindAnswer, lead: User, *, now: datetime) -> datetime:
    """Let *lead* alone decide *answer* until the lease ends; asked again, it is lengthened.

    One conditional update decides between two leads. A decision needs no claim
    where nobody else has one. Raises Conflict while another lead has the
    response, NotAllowed for a lead who marked it, NotFound when it does not wait.
    """
    until = now + timedelta(minutes=answer.round.lease_minutes)
    waits = Slot.objects.filter(answer=answer, kind=SlotKind.ARBITRATION, marked=False)
    _refuse_own(answer, lead)
    try:
        with transaction.atomic():
            if waits.filter(free_for(lead, now)).update(**SLOT.given(lead, until)):
                return until
    except IntegrityError as error:  # one_role_per_person_and_response
        raise _own_mark() from error
    if waits.exists():
        raise _at_hand()
    raise NotFound(_("This response is not waiting for arbitration."))


def mark_before_seeing(
    answer: BlindAnswer,
    lead: User,
    *,
    key: UUID,
    points: Sequence[Decimal] = (),
    total: Decimal | None = None,
    comment: str = "",
    rubric: str = "",
) -> ArbiterMark:
    """Keep what *lead* would give before seeing the other marks; the first one
    under a rubric counts and stays. The audit trail says where they may have seen some before.

    Raises NotAllowed and Conflict as ``arbitrate`` does, Conflict for another mark than the
    first one, BadInput for a mark that does not fit, or the *key* of another one.
    """
    given = GivenMark(tuple(points), total, comment.strip())
    with transaction.atomic():
        hold_key(str(key))
        locked = lock(answer.pk)
        if earlier := mark_before(locked, lead):
            if not _same_before(earlier, given):
                raise Conflict(
                    _("Your mark before seeing the others is already stored, and stays."),
                    code="marked_first",
                )
            return earlier
        if ArbiterMark.objects.filter(key=key).exists():
            raise _key_used()
        check_before_seeing(locked, lead, rubric=rubric)
        check_given(locked, given)
        mark = ArbiterMark.objects.create(
            answer=locked,
            lead=lead,
            rubric=locked.rubric,
            key=key,
            points=[plain(value) for value in given.points],
            total=given.under(frozen_rubric(locked)),
            comment=given.comment,
        )
        detail: dict[str, object] = {"answer": locked.alias, "total": plain(mark.total)}
        detail |= {"may_have_seen": True} if may_have_seen(locked, lead) else {}
        record(Tag.ARBITER_MARKED, mark, actor=lead, **detail)
    return mark


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
    rubric: str = "",
    now: datetime,
) -> Mark:
    """Store the lead's mark as final for a response that waits for arbitration.

    *seen* are the keys of the teachers' marks that the lead's page showed, so
    that a decision never rests on marks that were revised meanwhile; *rubric* is the
    code of the rubric there, if it is known. The same
    *key* with the same content is the same decision. The mark is one of the
    round's steps, or the mean of the closest pair.

    Raises NotAllowed for a lead who marked this response, Conflict when it was
    finalized or revised meanwhile or does not wait for arbitration, another lead has it or the
    round is closed, BadInput for a mark that does not fit.
    """
    given = GivenMark(tuple(points), total, comment.strip(), reason=reason)
    try:
        with transaction.atomic():
            hold_key(str(key))  # before the response: of two with one key the second waits
            locked = lock(answer.pk)
            if earlier := _earlier(key, given, locked, lead):
                return earlier
            _check(locked, lead, seen)
            _check_rubric(locked, rubric)
            _check_fits(locked, given)
            mark = _write(_taken(locked, lead, now), locked, lead, given, key)
            detail = {"answer": locked.alias, "total": str(mark.total), "reason": reason.value}
            record(Tag.ARBITRATED, mark, actor=lead, **detail)
            finalize(locked, now=now)
            return mark
    except IntegrityError as error:  # one_role_per_person_and_response
        raise _own_mark() from error


def correct_final(
    answer: BlindAnswer,
    lead: User,
    *,
    key: UUID,
    seen: Sequence[int],
    number: int,
    points: Sequence[Decimal] = (),
    total: Decimal | None = None,
    reason: ArbitrationReason,
    comment: str = "",
    rubric: str = "",
    now: datetime,
) -> Mark:
    """Put the lead's mark in the place of the final mark of a finalized response.

    *number* is that of the final mark that the page showed. It stays, and one
    with the next number follows it; the response points to the new one. *key*,
    *seen* and the mark are as in ``arbitrate``.

    Raises NotAllowed for a lead who marked this response, Conflict when another
    final mark counts by now, a mark was revised or the round is closed, BadInput
    for a mark that does not fit.
    """
    given = GivenMark(tuple(points), total, comment.strip(), reason=reason)
    with transaction.atomic():
        hold_key(str(key))
        locked = lock(answer.pk)
        if earlier := _earlier(key, given, locked, lead):
            return earlier
        before = _check_correction(locked, lead, seen, number)
        _check_rubric(locked, rubric)
        _check_fits(locked, given)
        slot, _made = Slot.objects.get_or_create(answer=locked, kind=SlotKind.ARBITRATION)
        Slot.objects.filter(pk=slot.pk).update(holder=lead, marked=True, lease_until=None)
        mark = _write(slot, locked, lead, given, key)
        detail = {"answer": locked.alias, "from": plain(before.value), "to": plain(mark.total)}
        record(Tag.FINAL_CORRECTED, mark, actor=lead, reason=reason.value, **detail)
        locked.final = None
        finalize(locked, now=now)
        return mark


def check_case(
    answer: BlindAnswer, lead: User, *, seen: Sequence[int], rubric: str, number: int | None = None
) -> None:
    """Raise Conflict for a page that showed the case otherwise than it is now.

    As ``arbitrate`` does, or with a *number* ``correct_final``. Asked where what was sent does not
    fit the case, for it may have fitted the one that the page showed.
    """
    if number is None:
        _check(answer, lead, seen)
    else:
        _check_correction(answer, lead, seen, number)
    _check_rubric(answer, rubric)


def check_before_seeing(answer: BlindAnswer, lead: User, *, rubric: str) -> None:
    """Raise Conflict unless *lead* may store a mark before seeing, under the rubric shown."""
    _check_waits(answer, lead)
    _check_rubric(answer, rubric)


def _write(slot: Slot, answer: BlindAnswer, lead: User, given: GivenMark, key: UUID) -> Mark:
    """The next version of the lead's mark; an earlier one may be of another lead.

    Raises BadInput for a *key* that an earlier mark has.
    """
    if Mark.objects.filter(key=key).exists():
        raise _key_used()
    kept = Mark.objects.filter(slot=slot, stale=False).aggregate(newest=Max("version"))["newest"]
    slot.answer = answer
    version = max(kept or 0, slot.void_version) + 1
    return write_mark(slot, lead, given, version=version, stale=False, key=key)


def _earlier(key: UUID, given: GivenMark, answer: BlindAnswer, lead: User) -> Mark | None:
    """The decision that an equal request stored before, if it still counts.

    A page from before it was corrected or withdrawn asks for what is no longer so.
    """
    mark = Mark.objects.filter(key=key).select_related("slot").prefetch_related("points").first()
    if mark is None:
        return None
    if mark.slot.answer_id != answer.pk or mark.teacher_id != lead.pk:
        raise _key_used()
    if mark == newest_marks(answer).get(SlotKind.ARBITRATION):
        return mark if same_content(mark, given) else None
    if answer.final_id is None:
        raise _key_used()
    return None


def _same_before(earlier: ArbiterMark, given: GivenMark) -> bool:
    """Whether a mark before seeing is the one that is stored."""
    points = [plain(value) for value in given.points]
    same_marks = earlier.points == points and (points or earlier.total == given.total)
    return bool(same_marks) and earlier.comment == given.comment


def _check(answer: BlindAnswer, lead: User, seen: Sequence[int]) -> None:
    """Whether this lead may decide this response, now and on these marks."""
    _check_waits(answer, lead)
    if answer.round.arbiter_marks_first and mark_before(answer, lead) is None:
        raise Conflict(
            _("Enter your own mark first. Then you see the other marks."), code="mark_first"
        )
    _refuse_unseen(answer, seen)


def _check_correction(
    answer: BlindAnswer, lead: User, seen: Sequence[int], number: int
) -> FinalMark:
    """The final mark called *number*, if this lead may put another in its place now."""
    if answer.final is None or answer.final.number != number:
        raise Conflict(
            _("The final mark has been changed in the meantime. Review it first."),
            code="settled",
        )
    if answer.role != AnswerRole.ANSWER:
        raise NotFound(_("This response has no final mark to correct."))
    _refuse_own(answer, lead)
    _refuse_closed(answer)
    _refuse_unseen(answer, seen)
    return answer.final


def _check_waits(answer: BlindAnswer, lead: User) -> None:
    """Whether the response waits for a decision that this lead may take."""
    _refuse_own(answer, lead)
    if answer.final_id is not None:
        raise Conflict(_("This response has been finalized in the meantime."), code="settled")
    _refuse_closed(answer)
    if not Slot.objects.filter(answer=answer, kind=SlotKind.ARBITRATION, marked=False).exists():
        raise Conflict(_("This response is not waiting for arbitration."), code="not_waiting")


def _taken(answer: BlindAnswer, lead: User, now: datetime) -> Slot:
    """The slot of the decision, now the lead's for good; an ended lease of another is no matter."""
    waits = answer.slots.filter(kind=SlotKind.ARBITRATION, marked=False)
    free = waits.filter(free_for(lead, now))
    if not free.update(holder=lead, marked=True, lease_until=None):
        raise _at_hand()
    return answer.slots.get(kind=SlotKind.ARBITRATION)


def _refuse_own(answer: BlindAnswer, lead: User) -> None:
    role = own_role(lead, answer)
    if role is OwnRole.ENTERED:
        raise NotAllowed(
            _("You entered a mark of this response. Another lead has to decide."),
            code="entered_mark",
        )
    if role is OwnRole.GAVE:
        raise _own_mark()


def _refuse_closed(answer: BlindAnswer) -> None:
    if answer.round.status not in LIVE:
        raise Conflict(_("The round is closed."), code="round_closed")


def _refuse_unseen(answer: BlindAnswer, seen: Sequence[int]) -> None:
    marks = newest_marks(answer)
    if {marks[kind].pk for kind in TEACHERS if kind in marks} != set(seen):
        raise Conflict(
            _(
                "A teacher has changed a mark since you opened this page. Review the "
                "new marks, then decide."
            ),
            code="marks_changed",
        )


def _check_fits(answer: BlindAnswer, given: GivenMark) -> None:
    """As ``check_given``; but the mean of the closest pair may lie between two steps."""
    try:
        check_given(answer, given)
    except BadInput as refusal:
        if refusal.code not in OFF_STEP or not _is_mean_of_pair(answer, given):
            raise


def _is_mean_of_pair(answer: BlindAnswer, given: GivenMark) -> bool:
    rubric, marks = frozen_rubric(answer), newest_marks(answer)
    of_teachers = [marks[kind] for kind in TEACHERS if kind in marks]
    values = [
        TeacherMark(mark.total, tuple(point.points for point in mark.points.all()))
        for mark in of_teachers
    ]
    pair = closest_pair(values, rubric)
    if pair is None or pair.points is None:
        return False
    return (given.points, given.under(rubric)) == (pair.points, pair.value)


def _at_hand() -> Conflict:
    return Conflict(
        _("Another lead is working on this response. It returns to the queue automatically."),
        code="claimed",
    )


def _check_rubric(answer: BlindAnswer, code: str) -> None:
    """Raise Conflict if the page showed another rubric, whose code it sent."""
    if code:
        check_rubric(answer, code)


def _key_used() -> BadInput:
    return BadInput(_("Use a new submission id for a new mark."), code="key_used")


def _own_mark() -> NotAllowed:
    return NotAllowed(
        _("You marked this response yourself. Another lead has to decide."), code="own_mark"
    )
