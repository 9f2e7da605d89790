"""An endpoint that turns calls away: when a run stops asking all the time, and when it asks again.

Nobody's fault here and surely not billed, so no job fails for it. But a run that
only hears "no" must not look like one that works, nor keep a worker from other
runs: it waits, says until when, and one call goes ahead then to see.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db.models import Count, Max, Min

from evaluations.llm.client import ChatFailure, FailureKind
from evaluations.models import Attempt, Run
from evaluations.models.vocabulary import AttemptStatus, PauseReason
from evaluations.runs.services.run_states import pause

# Refusals in a row, and how long there has been nothing else, until the run waits.
FEW = 3
AT_LEAST = timedelta(seconds=5)
# So many refused connections are enough at any speed: no call will fare better now.
MANY_UNCONNECTED = 10
DOWN_FOR = timedelta(seconds=60)
# A slow-down is waited for as long as it has lasted, within these, or as the endpoint asks.
SHORTEST, LONGEST = timedelta(seconds=10), timedelta(seconds=60)
# What says nothing about whether the endpoint takes calls again.
SAYS_NOTHING = frozenset({FailureKind.CONNECT, FailureKind.RATE_LIMIT, FailureKind.CANCELLED})


def accepts_calls(answered: int, failures: Sequence[ChatFailure]) -> bool:
    """Whether a batch shows that the endpoint is there and willing, be it with an error."""
    return bool(answered) or any(failure.kind not in SAYS_NOTHING for failure in failures)


def pause_if_refused(run: Run, failures: Sequence[ChatFailure], now: datetime) -> None:
    """Let *run* wait where the endpoint has only turned calls away lately."""
    kinds = {failure.kind for failure in failures}
    if FailureKind.CONNECT in kinds:
        n, since = _in_a_row(run, FailureKind.CONNECT, now)
        if n >= MANY_UNCONNECTED or (n >= FEW and now - since >= AT_LEAST):
            pause(run, PauseReason.ENDPOINT_DOWN, resume_at=now + DOWN_FOR)
    if FailureKind.RATE_LIMIT in kinds:
        n, since = _in_a_row(run, FailureKind.RATE_LIMIT, now)
        if n >= FEW and now - since >= AT_LEAST:
            wait = min(LONGEST, max(SHORTEST, now - since))
            asked = max(failure.retry_after or 0.0 for failure in failures)
            resume_at = now + max(wait, timedelta(seconds=asked))
            pause(run, PauseReason.ASKED_TO_WAIT, resume_at=resume_at)


def _in_a_row(run: Run, kind: FailureKind, now: datetime) -> tuple[int, datetime]:
    """How many attempts of *run* failed by *kind* since the last answer, and since when.

    Counted in the database: a small run has a few in each shift of a worker.
    """
    attempts = Attempt.objects.filter(job__run=run)
    answered = attempts.filter(status=AttemptStatus.ANSWERED)
    last = answered.aggregate(last=Max("finished_at"))["last"]
    refused = attempts.filter(error=kind)
    if last is not None:
        refused = refused.filter(finished_at__gt=last)
    found = refused.aggregate(n=Count("pk"), since=Min("finished_at"))
    return found["n"], found["since"] or now
