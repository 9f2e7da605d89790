"""The lead sends the marks of a teacher since a moment back, to be given again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from evaluations.marking.monitoring.rules.spreading import spread
from evaluations.marking.monitoring.selectors.returning import (
    checks_since,
    roles_on,
    slots_since,
)
from evaluations.marking.services.reopening import TakenBack, batches, hold, take_back
from evaluations.models import MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict


def return_marks(
    marking_round: MarkingRound,
    teacher: User,
    *,
    since: datetime | None = None,
    aliases: Collection[str] = (),
    to_others: bool,
    with_arbitrated: bool = False,
    acting_user: User,
    now: datetime,
) -> TakenBack:
    """Have the marks that *teacher* saved at *since* or later, or on *aliases* only, given again.

    By the same teacher, or *to_others*: spread over those of the pool who are not
    paused and have no role on the response. Final marks made with them are
    withdrawn and finalized again when the new mark comes. Responses that the lead has
    decided are left alone unless *with_arbitrated*. Since a moment seed answers and
    intra-rater checks go back too, for whatever stayed marked would be known as a check;
    nobody else gets them. Single responses reveal nothing of that kind, so checks
    stay. Every version stays; which ones stands in the audit trail.

    Raises Conflict in a closed round or when there is nothing to return for re-marking,
    BadInput where there are no others.
    """
    check_open(marking_round)
    with transaction.atomic():
        choice: dict[str, Any] = {"with_arbitrated": with_arbitrated, "aliases": aliases}
        found = slots_since(marking_round, teacher, since, **choice)
        checks = checks_since(marking_round, teacher, since) if since and not aliases else []
        held = hold([slot.answer_id for slot in (*found, *checks)])
        found = slots_since(marking_round, teacher, since, **choice)
        slots = [slot for slot in found if slot.answer_id in held]
        checks = [slot for slot in checks if slot.answer_id in held]
        if not slots:
            raise Conflict(
                _("None of these responses has a mark of %(name)s that can be returned.")
                % {"name": teacher},
                code="nothing_to_send_back",
            )
        planned = _others(marking_round, teacher, slots) if to_others else {}
        taken = take_back(
            slots, {slot.pk: planned.get(slot.pk, teacher.pk) for slot in slots}, now=now
        )
        again = None if to_others else teacher.pk
        checked = take_back(checks, {slot.pk: again for slot in checks}, now=now)
        record(
            Tag.MARKS_SENT_BACK,
            marking_round,
            actor=acting_user,
            teacher=teacher.username,
            since=since.isoformat() if since else None,
            responses=sorted(aliases),
            to="others" if to_others else "same",
            marks=taken.marks,
            checks=checked.marks,
            finals=taken.finals,
        )
    return taken


def check_open(marking_round: MarkingRound) -> None:
    """Raise Conflict in a closed round: its marks stay."""
    marking_round.refresh_from_db(fields=["status"])
    if marking_round.status == RoundStatus.CLOSED:
        raise Conflict(
            _("The round is closed. Its marks can no longer be changed."), code="round_closed"
        )


def _others(
    marking_round: MarkingRound, teacher: User, slots: Sequence[Slot]
) -> dict[int, int | None]:
    pool = marking_round.pool.filter(paused=False).exclude(teacher=teacher)
    others = list(pool.order_by("teacher").values_list("teacher", flat=True))
    if not others:
        raise BadInput(_("No other teacher of the round can mark them."), code="no_others")
    barred: dict[int, set[int]] = {}
    for some in batches(sorted({slot.answer_id for slot in slots})):
        barred |= roles_on(some)
    return spread({slot.pk: barred[slot.answer_id] for slot in slots}, others)
