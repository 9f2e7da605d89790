"""Taking responses away on a marking sheet, and giving them back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from uuid import uuid4

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from evaluations.marking.desk.selectors.queue import on_sheet
from evaluations.marking.desk.services.many_slots import claim_many, next_slots
from evaluations.marking.desk.services.slots import skip
from evaluations.marking.sheets.selectors import slots_on
from evaluations.models import MarkingRound, MarkingSheet, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.markers import check_may_mark
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.reads import record_export
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict


def take_sheet(
    marking_round: MarkingRound,
    teacher: User,
    *,
    responses: int,
    until: date,
    acting_user: User,
    now: datetime,
) -> MarkingSheet:
    """Take up to *responses* from the queue of *teacher* and hold them until the end of a day.

    They are those that the desk would give, in its order, and the desk does not
    give them while they are away. *acting_user* is the teacher, or a lead for
    them: what the teacher has at hand at the desk stays there then. All is stored, or nothing.
    Raises BadInput for a number or a day that is not possible and for a teacher who
    may not mark any more, Conflict where the round is not open, the teacher would hold more of
    it than the round allows, or there is nothing to take.
    """
    _check(marking_round, teacher, responses, until, now)
    which = Q()
    if acting_user != teacher:
        which = ~Q(holder=teacher, holder__isnull=False, lease_until__gt=now)
    while sheet := _taken(marking_round, teacher, responses, until, which, acting_user, now):
        if sheet.responses:
            return sheet
    raise Conflict(_("There are no responses to download now."), code="nothing_to_take")


def _taken(
    marking_round: MarkingRound,
    teacher: User,
    responses: int,
    until: date,
    which: Q,
    acting_user: User,
    now: datetime,
) -> MarkingSheet | None:
    """Take a sheet; None where nothing is left, an empty one where others took all meanwhile.

    It counts and claims under a lock of the teacher: a request beside this one would take what it
    has taken. Nothing else is locked while the queue is read.
    """
    sheet = _new_sheet(marking_round, teacher, until)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=teacher.pk)
        held = _held(marking_round, teacher, now)
        if (number := min(responses, marking_round.sheet_responses - held)) < 1:
            return None
        found = next_slots(teacher, marking_round, number, which=which, now=now)
        sheet.responses = claim_many(
            found,
            teacher,
            marking_round,
            which=which,
            until=sheet.held_until,
            many=responses > 1,
            now=now,
        )
        if not found.slots:
            return None
        if sheet.responses:
            sheet.save(force_insert=True)
            record(
                Tag.SHEET_TAKEN,
                sheet,
                actor=acting_user,
                teacher=teacher.username,
                responses=sheet.responses,
                until=sheet.held_until.isoformat(),
            )
    return sheet


def return_sheet(sheet: MarkingSheet, *, acting_user: User, now: datetime) -> int:
    """Give free what is still on *sheet*; how many responses. Files of it are then of no use.

    Of a sheet that has ended they are free.
    """
    slots = list(slots_on(sheet, now).select_related("answer"))
    given = sum(skip(slot, sheet.teacher, now=now) for slot in slots)
    if given:
        record(Tag.SHEET_RETURNED, sheet, actor=acting_user, responses=given)
    return given


def note_download(
    sheet: MarkingSheet, manifest: Mapping[str, object], *, acting_user: User
) -> AuditEntry:
    """Record that *acting_user* took a file of *sheet* away; *manifest* says what it held."""
    return record_export(Tag.SHEET_DOWNLOADED, sheet, actor=acting_user, **manifest)


def _check(
    marking_round: MarkingRound, teacher: User, responses: int, until: date, now: datetime
) -> None:
    if marking_round.status != RoundStatus.OPEN:
        raise Conflict(
            _("The round is not open, so no responses can be downloaded."), code="round_not_open"
        )
    check_may_mark(teacher)
    membership = marking_round.pool.filter(teacher=teacher).first()
    if membership is None:
        raise BadInput(_("%(name)s is not a teacher of this round.") % {"name": teacher})
    if membership.paused:
        raise Conflict(_("%(name)s is paused in this round.") % {"name": teacher}, code="paused")
    if not 1 <= responses <= marking_round.sheet_responses:
        most = {"most": marking_round.sheet_responses}
        raise BadInput(_("A marking sheet can have 1 to %(most)s responses.") % most)
    today = timezone.localdate(now)
    if not today <= until <= today + timedelta(days=marking_round.sheet_days):
        most = {"most": marking_round.sheet_days}
        raise BadInput(_("Choose a day between today and %(most)s days from now.") % most)
    held = _held(marking_round, teacher, now)
    if held + responses > marking_round.sheet_responses:
        raise Conflict(
            _(
                "%(name)s holds %(held)s responses of this round and can hold at most %(most)s "
                "at once. Upload or return a marking sheet first."
            )
            % {"name": teacher, "held": held, "most": marking_round.sheet_responses},
            code="holds_too_many",
        )


def _held(marking_round: MarkingRound, teacher: User, now: datetime) -> int:
    """How many responses of the round *teacher* holds on sheets that have not ended."""
    slots = Slot.objects.filter(answer__round=marking_round, holder=teacher, marked=False)
    return slots.filter(on_sheet(teacher, now)).count()


def _new_sheet(marking_round: MarkingRound, teacher: User, day: date) -> MarkingSheet:
    """A sheet, not stored yet, that ends in the last second of *day*.

    Its microseconds are drawn: sheets that end on one day are told apart by them, also those
    that are taken at the same time, and they tell nobody how many sheets there are.
    """
    end = datetime.combine(day, time(23, 59, 59), timezone.get_current_timezone())
    name = uuid4()
    return MarkingSheet(
        public_id=name,
        round=marking_round,
        teacher=teacher,
        responses=0,
        held_until=end.replace(microsecond=name.int % 1_000_000),
    )
