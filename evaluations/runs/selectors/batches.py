"""The batches of a run, and what a person can do with them now."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count
from django.utils.functional import Promise

from evaluations.models import Attempt, Batch, Job, Run
from evaluations.models.vocabulary import (
    AttemptStatus,
    BatchState,
    JobStatus,
    PauseReason,
    RunStatus,
)
from evaluations.runs.selectors.runs import WORKED_ON
from gradeapp.common.choices import label
from gradeapp.common.exact_money import amount_of, exact_sum

# With these an endpoint says that nothing is at the address, or that it takes no such request.
NO_BATCH_API = frozenset({404, 405, 501})


@dataclass(frozen=True)
class Batches:
    """The batches of a run with their states in words, and what can be done.

    ``send``: requests are due and may go through the batch API, ``files``: into files. ``read``:
    replies in a file would be stored. ``waiting``: a batch is at the endpoint, or on its way.
    """

    rows: Sequence[tuple[Batch, str | Promise]]
    send: bool
    files: bool
    read: bool
    waiting: bool

    @property
    def key(self) -> str:
        """A short hash of what is shown."""
        shown = [
            *((one.pk, one.state, one.requests, one.answered, one.failed) for one, _s in self.rows),
            *((one.unanswered, one.error, one.error_status, one.next_at) for one, _s in self.rows),
            *((one.remote_id, one.remote_state, one.remote_answered) for one, _s in self.rows),
        ]
        return hashlib.sha256(repr((shown, self.send, self.files)).encode()).hexdigest()[:8]


def batches_of(run: Run) -> Batches:
    """Return the batches of *run*, the oldest first."""
    rows = [(one, label(BatchState, one.state)) for one in run.batches.order_by("pk")]
    due = Job.objects.filter(run=run, status=JobStatus.PENDING).exists()
    unanswered = (AttemptStatus.SENT, AttemptStatus.UNKNOWN)
    return Batches(
        rows=rows,
        send=due and not run.batch_api and may_make_batches(run, by_api=True),
        files=due and may_make_batches(run, by_api=False),
        read=Attempt.objects.filter(job__run=run, status__in=unanswered).exists(),
        waiting=any(one.by_api and one.state == BatchState.WAITING for one, _state in rows),
    )


@dataclass(frozen=True)
class Awaited:
    """How many requests wait for a reply to a batch, and what they cost at most."""

    requests: int
    at_most: Decimal


def awaited(run: Run) -> Awaited:
    """Return what waits for replies to the batches of *run*.

    That may be a request of a question that the replies to an earlier batch have answered.
    """
    sent = Attempt.objects.filter(job__run=run, status=AttemptStatus.SENT)
    sums = sent.aggregate(n=Count("pk"), reserved=exact_sum("reserved"))
    return Awaited(sums["n"], amount_of(sums["reserved"]))


def may_make_batches(run: Run, *, by_api: bool) -> bool:
    """Return whether batches of *run* may be made in its state."""
    rejected = run.status == RunStatus.PAUSED and run.pause_reason == PauseReason.BATCH_REJECTED
    # Files are the way out where the batch API does not take them.
    return run.status in WORKED_ON or (rejected and not by_api)


def status_without_batch_api(run: Run) -> int | None:
    """Return the HTTP status by which the endpoint of *run* says that it has no batch API."""
    last = run.batches.filter(state=BatchState.FAILED, remote_id="").order_by("-pk").first()
    status = last.error_status if last is not None else None
    return status if status in NO_BATCH_API else None
