"""Leaving a round for good: at one's own wish, to use other roles, or because a lead says so."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from evaluations.marking.desk.services.passing import keep_what_waits
from evaluations.marking.services.finalizing import ask_the_lead, close_windows
from evaluations.marking.services.holding import hold_rounds
from evaluations.marking.services.reopening import lock_answers
from evaluations.marking.services.showing import note_shown
from evaluations.models import MarkingRound, RoundTeacher, Slot
from evaluations.models.vocabulary import LIVE, SlotKind
from gradeapp.accounts.models import User
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.leases import SLOT
from gradeapp.common.refusals import Conflict, NotAllowed


def leave_round(marking_round: MarkingRound, teacher: User, *, now: datetime) -> None:
    """Take *teacher* out of the round at their own wish.

    Raises NotAllowed for somebody without another role, to whom nothing would open, Conflict as
    ``take_out`` does.
    """
    if teacher.granted == teacher.capabilities:
        raise NotAllowed(_("Only a lead can take you out of a round. Ask the lead to pause you."))
    take_out(marking_round, teacher, acting_user=teacher, now=now)


def take_out(
    marking_round: MarkingRound, teacher: User, *, acting_user: User, now: datetime
) -> None:
    """Take *teacher* out of the round for good: their marks count, and can no longer be revised.

    What is not marked goes to the others, and a third mark that none of them can give to the lead.
    Nobody can come back: outside the round they may look at its marks. The person need not be a
    teacher any more: what a round closes to them stays closed until they are out of it. Raises
    Conflict for somebody who is not in the round, or has left it, and for a round that is not
    going on.
    """
    with transaction.atomic():
        own = Slot.objects.filter(answer__round=marking_round)
        held = own.filter(holder=teacher, marked=False)
        hold_rounds(marking_round.answers.values_list("pk", flat=True)[:1])
        # Before the slots, as a save does; those too whose windows end.
        revisable = own.filter(holder=teacher, revisable_until__gt=now)
        lock_answers(list((held | revisable).values_list("answer", flat=True)))
        live = MarkingRound.objects.filter(pk=marking_round.pk, status__in=LIVE).exists()
        seat = RoundTeacher.objects.filter(round=marking_round, teacher=teacher, left_at=None)
        if not (live and seat.update(left_at=now, paused=True, paused_reason="")):
            if teacher == acting_user:
                raise Conflict(_("You have already left this round."), code="left")
            raise Conflict(
                _("%(name)s is not in this round, or it is not open.") % {"name": teacher},
                code="left",
            )
        keep_what_waits(marking_round, teacher, now=now)
        close_windows(own.filter(holder=teacher), now=now)
        note_shown([(slot, teacher.pk) for slot in held.select_related("answer__round")], now)
        # Put aside: a third mark that is not needed any more waits for nobody (``due_answers``).
        thirds = own.filter(Q(holder=teacher) | Q(planned=teacher), kind=SlotKind.THIRD)
        thirds.filter(marked=False).update(skipped_at=now)
        held.update(**SLOT.released())
        own.filter(planned=teacher, marked=False).update(planned=None)
        record(Tag.TEACHER_LEFT, marking_round, actor=acting_user, teacher=teacher.username)
    ask_the_lead(marking_round, now=now)
