"""What other pages say of rounds: what waits, for the home page, and their addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.models import BlindAnswer, MarkingRound, Slot
from evaluations.models.vocabulary import LIVE, AnswerRole, RoundStatus
from evaluations.models.vocabulary import SlotKind as Kind
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting


def rounds_waiting(user: User) -> Iterator[Waiting]:
    """Yield what waits for a lead in the rounds; five queries whatever their number."""
    if not user.may(Capability.LEAD_ROUNDS):
        return
    rounds = reverse("rounds:list")
    live = MarkingRound.objects.filter(status__in=LIVE)
    waiting_slots = Slot.objects.filter(kind=Kind.ARBITRATION, marked=False, answer__round__in=live)
    yield Waiting(_("Responses to arbitrate"), waiting_slots.count(), rounds)
    planned = MarkingRound.objects.filter(status=RoundStatus.PLANNED).count()
    yield Waiting(_("Rounds ready to start"), planned, rounds)
    of_round = BlindAnswer.objects.filter(round=OuterRef("pk"), role=AnswerRole.ANSWER)
    ended = live.filter(Exists(of_round), ~Exists(of_round.filter(final=None))).count()
    yield Waiting(_("Rounds ready to close"), ended, rounds)
    late = live.filter(deadline__lt=timezone.now()).count()
    yield Waiting(_("Rounds past their deadline"), late, rounds)


def round_addresses(keys: Sequence[int]) -> dict[int, str]:
    """Return the address of the page of each round of *keys*."""
    found = MarkingRound.objects.filter(pk__in=keys).values_list("pk", "public_id")
    return {key: reverse("rounds:round", args=[public_id]) for key, public_id in found}
