"""What a teacher's home says of each round: what waits, own drafts, own returned marks.

All of it is read from what the teacher's queue would give and from own rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.marking.desk.selectors.desk import OwnRound, own_rounds
from evaluations.marking.desk.selectors.queue import free_for, passed, slots_open_to
from evaluations.marking.desk.sql import own_counts
from evaluations.models import Draft, Mark, MarkingRound, Slot
from evaluations.models.vocabulary import LIVE
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting


@dataclass(frozen=True, slots=True)
class HomeRound:
    """One round of a teacher with counts of what waits there.

    ``work`` says whether the queue would give something now; ``waiting`` counts the responses
    that are planned for or held by the teacher, ``returned`` those of them whose mark the lead
    returned, ``drafts`` responses with something typed that is not saved and still can be.
    """

    round: OwnRound
    work: bool
    waiting: int
    drafts: int
    returned: int

    @property
    def done(self) -> bool:
        """Whether everything is marked and nothing more can be had now."""
        return not self.work and self.round.progress.marked > 0 and not self.waiting


def home_rounds(teacher: User, now: datetime) -> list[HomeRound]:
    """The open rounds of *teacher*, those that can be marked first."""
    free = slots_open_to(teacher, now=now).filter(free_for(teacher, now))
    work = {str(key) for key in free.values_list("answer__round__public_id", flat=True).distinct()}
    # Not what another marked before: to who gets that, it is a response like the others.
    given = Exists(Mark.objects.filter(slot=OuterRef("pk"), teacher=teacher))
    own = Q(holder=teacher) | Q(holder=None, planned=teacher)
    mine = Slot.objects.filter(own, given, ~passed(now), marked=False, void_version__gt=0)
    returned = _by_round(mine, "answer__round__public_id")
    # Not where the lease has ended: such a response may be taken by others at any time.
    at_hand = Q(slot__marked=False, slot__lease_until__gt=now)
    revisable = Q(slot__marked=True, slot__revisable_until__gt=now)
    typed = Draft.objects.filter(at_hand | revisable, teacher=teacher, slot__holder=teacher)
    drafts = _by_round(typed, "slot__answer__round__public_id")
    return [
        HomeRound(
            one,
            one.public_id in work,
            one.progress.total - one.progress.marked,
            drafts.get(one.public_id, 0),
            returned.get(one.public_id, 0),
        )
        for one in own_rounds(teacher)
    ]


def marks_waiting(user: User) -> Iterator[Waiting]:
    """Yield the responses that wait for a mark by *user*."""
    if user.may(Capability.MARK):
        yield Waiting(_("Responses to mark"), waiting_of(user), reverse("marking:home"))


def waiting_of(teacher: User) -> int:
    """How many responses wait for *teacher* in all open rounds, as the pages of each count them."""
    counts = own_counts(teacher.pk, timezone.now())
    left = {key: left for key, (_done, left) in counts.items() if left}
    live = MarkingRound.objects.filter(pk__in=left, status__in=LIVE) if left else ()
    return sum(left[one.pk] for one in live)


def _by_round(rows: QuerySet[Any], column: str) -> Mapping[str, int]:
    counted = rows.order_by().values_list(column).annotate(n=Count("pk"))
    return {str(key): number for key, number in counted}
