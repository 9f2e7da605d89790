"""What a lead does about what they see: pause or resume a teacher, set limits, take figures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.facts.looks import note_round_taken
from evaluations.marking.desk.services.passing import keep_what_waits
from evaluations.marking.monitoring.rules.limits import LIMITS, limits_code
from evaluations.marking.rounds.services.rounds import round_is_closed
from evaluations.marking.services.telling import check_names_no_model
from evaluations.models import MarkingRound, RoundTeacher
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.audit.reads import record_export
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.hidden_text import visible
from gradeapp.common.locking import locked
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput, Conflict, NotFound

LONGEST_REASON = 200


def pause_teacher(
    marking_round: MarkingRound, teacher: User, *, reason: str, acting_user: User, now: datetime
) -> None:
    """Give *teacher* nothing more in this round; what they have at hand they may still save.

    The teacher reads the *reason* (1 to 200 characters) at the desk. Raises
    NotFound for somebody outside the pool, Conflict when they are paused already
    or the round is closed, BadInput without a reason or for one that names a model.
    """
    if not (reason := visible(reason)) or len(reason) > LONGEST_REASON:
        raise BadInput(_("Enter a reason of 1 to 200 characters. The teacher can read it."))
    check_names_no_model(reason)
    with transaction.atomic():
        row = _in_pool(marking_round, teacher)
        if row.paused:
            raise Conflict(_("%(name)s is already paused.") % {"name": teacher}, code="paused")
        row.paused, row.paused_reason = True, reason
        row.save(update_fields=["paused", "paused_reason"])
        keep_what_waits(marking_round, teacher, now=now)
        detail = {"teacher": teacher.username, "reason": reason}
        record(Tag.TEACHER_PAUSED, marking_round, actor=acting_user, **detail)


def resume_teacher(marking_round: MarkingRound, teacher: User, *, acting_user: User) -> None:
    """Let *teacher* go on. Raises NotFound and Conflict as ``pause_teacher`` does."""
    with transaction.atomic():
        row = _in_pool(marking_round, teacher)
        if row.left_at is not None:
            raise Conflict(_("%(name)s has left this round.") % {"name": teacher}, code="left")
        if not row.paused:
            raise Conflict(_("%(name)s is not paused.") % {"name": teacher}, code="not_paused")
        row.paused, row.paused_reason = False, ""
        row.save(update_fields=["paused", "paused_reason"])
        record(Tag.TEACHER_RESUMED, marking_round, actor=acting_user, teacher=teacher.username)


def set_limits(
    marking_round: MarkingRound,
    limits: Mapping[str, Decimal | None],
    *,
    seen: str = "",
    acting_user: User,
) -> None:
    """Store the limits of a round: a number, or None for no limit at all, for each name of LIMITS.

    Shares stand between 0 and 1, the pace above 0. *seen* is the code of the limits that the page
    showed (``limits_code``). Raises BadInput for any other name or number, Conflict where other
    limits than those seen are set by now.
    """
    for name, value in limits.items():
        known = name in LIMITS and (value is None or (value.is_finite() and value >= 0))
        if not known or (value is not None and LIMITS[name].percent and value > 1):
            raise BadInput(_("A limit must be a share from 0 to 100 %, or empty for none."))
    stored = {name: None if value is None else plain(value) for name, value in limits.items()}
    with transaction.atomic():
        now_set = locked(MarkingRound.objects.filter(pk=marking_round.pk)).get().limits
        if seen and seen != limits_code(now_set):
            raise Conflict(
                _("The limits were changed since you opened this page. Review them again."),
                code="limits_changed",
            )
        MarkingRound.objects.filter(pk=marking_round.pk).update(limits=stored)
        record(Tag.LIMITS_SET, marking_round, actor=acting_user, limits=stored)
    marking_round.limits = stored


def note_figures_taken(
    marking_round: MarkingRound, manifest: Mapping[str, object], *, acting_user: User
) -> None:
    """Record that the teachers' figures left the house; *manifest* says what the file held."""
    note_round_taken(marking_round, acting_user=acting_user)
    record_export(Tag.EXPORTED, marking_round, actor=acting_user, report="monitoring", **manifest)


def _in_pool(marking_round: MarkingRound, teacher: User) -> RoundTeacher:
    """The locked place of *teacher* in the pool of a round that is not closed."""
    rows = RoundTeacher.objects.filter(round=marking_round, teacher=teacher)
    row = locked(rows.select_related("round")).first()
    if row is None:
        raise NotFound(_("There is no such teacher in this round."))
    if row.round.status == RoundStatus.CLOSED:
        raise round_is_closed()
    return row
