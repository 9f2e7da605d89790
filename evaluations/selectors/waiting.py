"""What waits for leads, admins and markers, as counts for the home page."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Count, Exists, OuterRef
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from evaluations.models import BlindAnswer, Job, MarkingRound, Run, Slot
from evaluations.models.vocabulary import LIVE, AnswerRole, JobStatus, RoundStatus, RunStatus
from evaluations.models.vocabulary import SlotKind as Kind
from evaluations.selectors.answer_check_queue import QueueChoice, left, waiting
from evaluations.selectors.desk_home import waiting_of
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting
from questions.rules.vocabulary import ImportStatus
from questions.selectors.imports import ANSWERS, imports

BUDGET = "budget"


def evaluations_waiting(user: User) -> Iterator[Waiting]:
    """Responses, rounds, readings, runs and imports that wait for *user*."""
    if user.may(Capability.MARK):
        yield Waiting(_("Responses to mark"), waiting_of(user), reverse("marking:home"))
    if user.may(Capability.LEAD_ROUNDS):
        yield from _rounds()
    if user.may(Capability.CHECK_ANSWERS):
        unread, _more = left(waiting(user, QueueChoice()))
        yield Waiting(_("Readings of answers to check"), unread, reverse("checks:overview"))
    if user.may(Capability.START_RUNS):
        yield from _runs()


def _rounds() -> Iterator[Waiting]:
    """Five queries whatever the number of rounds."""
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
    checked = imports(ANSWERS).filter(status=ImportStatus.CHECKED).exclude(folder="").count()
    where = reverse("answer-imports:imports")
    yield Waiting(_("Imports of answers to confirm"), checked, where)


def _runs() -> Iterator[Waiting]:
    """Two queries: paused runs by their reason, and failed calls of runs that have not ended."""
    runs = reverse("runs:list")
    paused = Run.objects.filter(status=RunStatus.PAUSED).order_by()
    by_reason = dict(paused.values_list("pause_reason").annotate(n=Count("pk")))
    spent = sum(n for reason, n in by_reason.items() if BUDGET in reason)
    yield Waiting(_("Runs that have spent their budget"), spent, runs)
    yield Waiting(_("Paused runs"), sum(by_reason.values()) - spent, runs)
    failed = Job.objects.filter(status=JobStatus.FAILED).values("run").distinct().count()
    yield Waiting(_("Runs with failed calls"), failed, runs)
