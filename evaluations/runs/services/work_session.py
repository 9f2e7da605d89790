"""A work session of one worker on one run, from claiming jobs to storing answers.

The workers of a run share what they know of an outage: the first one that notices it stores the
reason in the run and tries the endpoint with single calls. The others send nothing until one of
these is answered, or the run is paused.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F

from evaluations.llm.blocking import run_pump
from evaluations.llm.breaker import STANDARD, Breaker
from evaluations.llm.budget import Budget
from evaluations.llm.callbacks import Callbacks
from evaluations.llm.client import CallResult, ChatRequest
from evaluations.llm.pump import Pace, PumpError, StopReason
from evaluations.llm.rate_limit import SharedSlowdown
from evaluations.models import Attempt, Job, Run
from evaluations.models.vocabulary import PASSING, JobStatus, PauseReason, RunStatus
from evaluations.runs.rules.sessions import LONGEST_RETRY_WAIT
from evaluations.runs.selectors.runs import money, waits_for_endpoint
from evaluations.runs.services import job_queue, spending
from evaluations.runs.services.call_results import (
    Stored,
    fails_every_call,
    forget_failures,
    store_each,
)
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.endpoints import open_chat
from evaluations.runs.services.frozen import SENT_TO, is_still_the_same, sent_to
from evaluations.runs.services.job_queue import Call, claim_calls, prepare_calls
from evaluations.runs.services.permits import Permits
from evaluations.runs.services.processing import Processing
from evaluations.runs.services.run_states import (
    FAILED_PROBES,
    forget_pause,
    pause,
    pause_for_failure,
    pause_for_outage,
    pause_if_limited,
    show_outage,
    without_ended_waits,
)
from evaluations.runs.services.run_workers import (
    note_trying,
    part_of,
    show_waiting,
    take_over_trying,
)
from evaluations.runs.services.spools import replay, spool_path, spools_of
from evaluations.runs.services.study_budgets import calls_are_open
from gradeapp.common.refusals import Refusal

if TYPE_CHECKING:
    from evaluations.llm.openai_client import OpenAIChat

logger = logging.getLogger(__name__)

# A run waits so long for calls of other runs of its study.
STUDY_WAIT = timedelta(seconds=5)
# How often the page learns how many replies wait to be processed.
SHOW_WAITING = timedelta(seconds=1)
BREAKER = STANDARD
# So long, in seconds, a worker waits for other workers of its run, which have its budget.
OTHERS_WAIT = 0.3
# So many of the dearest calls say how far an endpoint goes above what was reserved.
MANY = 100


def overrun_of(reserved: Decimal, cost: Decimal) -> Decimal:
    """Return how many times its reservation a call cost, rounded up to a tenth; at least 1."""
    if not reserved or cost <= reserved:
        return Decimal(1)
    return (cost / reserved).quantize(Decimal("0.1"), ROUND_CEILING)


class NotStoredError(Exception):
    """Results could not be stored (``__cause__``)."""


class WorkSession:
    """One worker on one run. All methods are called in one thread."""

    def __init__(
        self,
        run: Run,
        owner: str,
        ends: datetime,
        asked: Callable[[], bool],
        clock: Callable[[], datetime],
        on_progress: Callable[[], None],
    ) -> None:
        assert run.endpoint is not None  # only runs with jobs are begun
        self.run, self.endpoint, self.owner, self.ends = run, run.endpoint, owner, ends
        self.asked, self.clock, self.on_progress = asked, clock, on_progress
        self.sent_to = sent_to(self.endpoint)
        self.random = Random()
        self.budget = Budget(run.budget)
        self.most_in_flight = min(self.endpoint.max_in_flight, settings.RUN_MAX_IN_FLIGHT)
        self.in_flight = self.unstored = 0
        # An endpoint that ignores max_tokens: how many times its reservation a call may cost.
        self.overrun = Decimal(1)
        self.permits = Permits(self.endpoint, owner, self.most_in_flight)
        self.processing = Processing(run)
        self.prepared: dict[int, Call] = {}
        # Whether the call in flight is one that may end the worker: nothing is sent beside it.
        self.alone = False
        # After a wait for the endpoint one call is sent first, and the others follow slowly.
        self.waits = waits_for_endpoint(run)
        first = 1 if self.waits else None
        self.gate = SharedSlowdown(self.most_in_flight, random=self.random, first=first)
        rejected = run.pause_reason == PauseReason.REJECTED
        self.breaker = Breaker(
            random=self.random, limits=BREAKER, probing=self.waits, rejected=rejected
        )
        # Whether this worker is the one that tries the endpoint for all workers of the run.
        self.tries = self.waits
        self.renew_at = self.show_at = clock()
        self.waiting_shown = 0

    def work(self) -> None:
        """Store spooled results, then pump until nothing is due, the session ends, or a stop.

        If results cannot be stored, pause the run; if not even that, raise what was raised.
        """
        self.processing.start()
        try:
            try:
                self.work_with_permits()
            except (NotStoredError, DatabaseError, OSError) as error:
                self.pause_for_storage(error)
            finally:
                self.permits.release()
        finally:
            self.processing.finish(self.renew)

    def work_with_permits(self) -> None:
        """Do what ``work`` says; the caller gives back the permits and processes the rest."""
        note_trying(self.run, self.owner, self.tries)
        for path in spools_of(self.run):
            replay(path, lambda batch: self.processing.add(self.store(batch).kept))
        self.budget = Budget(self.run.budget, money(self.run).exposed)
        above = Attempt.objects.filter(job__run=self.run, reserved__gt=0, cost__gt=F("reserved"))
        self.note_overrun(above.order_by("-cost").values_list("reserved", "cost")[:MANY])
        while (chat := self.open_chat()) is not None:
            if self.pump(chat) is not StopReason.DRAINED or not self.wait_for_due():
                break
        if self.breaker.is_open and not self.breaker.elsewhere:
            # Another session would begin with as many calls as may be in flight.
            self.pause_for_outage()

    def open_chat(self) -> OpenAIChat | None:
        """Return the client; if it cannot be used, pause the run and return None."""
        if not is_still_the_same(self.run, self.endpoint):
            pause(self.run, PauseReason.ENDPOINT_CHANGED)
            return None
        try:
            return open_chat(self.endpoint, in_flight=self.most_in_flight)
        except Refusal as refusal:
            no_key = refusal.code == "no_key"
            pause(self.run, PauseReason.NO_KEY if no_key else PauseReason.ADDRESS)
            return None

    def pump(self, chat: OpenAIChat) -> StopReason:
        """Make calls; after a stop, wait for answers as long as the endpoint may take."""
        try:
            result = run_pump(
                Callbacks(
                    *(self.claim, self.deliver, self.should_stop),
                    arrived=self.arrived,
                    prepare=self.prepare_ahead,
                ),
                chat,
                in_flight=self.most_in_flight,
                spool_path=spool_path(self.run, self.owner),
                random=self.random,
                pace=Pace(grace=self.endpoint.timeout_seconds + 5),
                gate=self.gate,
            )
        except PumpError as error:
            cause = error.__cause__ or error
            raise cause from cause.__cause__
        return result.stopped_because

    def claim(self, n: int) -> Sequence[ChatRequest]:
        """Claim up to *n* calls, within the worker's share of the account and the budget."""
        now = self.clock()
        if self.alone and (self.in_flight or self.unstored):
            return []
        self.alone = False
        n = min(n, self.breaker.capacity(now.timestamp()))
        capacity = self.permits.take(n, self.in_flight) if n else 0
        if capacity < 1:
            return []
        if self.breaker.is_open:
            self.prepared.clear()
        self.prepare(capacity, now)
        taken = dict(islice(self.prepared.items(), capacity))
        # What another worker took, or what is above the budget, is prepared anew if it is due.
        for job in taken:
            del self.prepared[job]
        claims = claim_calls(self.run, self.owner, taken, now, budget=self.budget)
        self.permits.used(capacity, len(claims.calls))
        self.in_flight += len(claims.calls)
        self.breaker.sent(one.attempt.pk for one in claims.calls)
        if not self.in_flight and not self.unstored:
            # The cap is asked last: what it kept back had passed the budgets.
            if claims.over_cap:
                again = now + STUDY_WAIT if spending.calls_are_open() else None
                pause(self.run, PauseReason.SPENDING_CAP, resume_at=again)
            elif claims.over_budget and self.others_call():
                time.sleep(OTHERS_WAIT)  # their calls may cost less than is reserved for them
            elif claims.over_budget:
                self.pause_for_budget(now)
        return [one.request for one in claims.calls]

    def prepare(self, n: int, now: datetime) -> None:
        """Prepare calls until there are *n* that are not sent.

        If there is none, and none is in flight, prepare one that may have ended two workers.
        """
        missing = n - len(self.prepared)
        if missing > 0:
            self.prepared |= prepare_calls(
                self.run,
                missing,
                now,
                prepare=self.call_of,
                without=self.prepared,
                part=part_of(self.run, self.owner, now),
                least_called=self.breaker.is_open,
            )
        if not (self.prepared or self.in_flight or self.unstored):
            self.prepared = prepare_calls(self.run, 1, now, prepare=self.call_of, suspects=True)
            self.alone = bool(self.prepared)

    def prepare_ahead(self) -> None:
        """Prepare the calls that follow those in flight, while these are answered."""
        if not self.breaker.is_open and 2 * len(self.prepared) < self.in_flight:
            self.prepare(self.in_flight, self.clock())

    def others_call(self) -> bool:
        """Return whether other workers of the run have calls in flight."""
        leased = Job.objects.filter(run=self.run, status=JobStatus.LEASED)
        return leased.exclude(lease_owner=self.owner).exists()

    def call_of(self, job: Job) -> Call:
        """Return the call of *job*; its reservation follows the most that a call cost above it."""
        call = call_for(self.run, job)
        return replace(call, most=call.most * self.overrun) if self.overrun > 1 else call

    def note_overrun(self, costs: Iterable[tuple[Decimal, Decimal]]) -> None:
        """Learn from reserved amounts and costs that the endpoint ignores max_tokens."""
        factor = max((overrun_of(*one) for one in costs), default=Decimal(1))
        if factor > self.overrun:
            self.overrun = factor
            self.prepared = {}  # they reserve too little

    def pause_for_budget(self, now: datetime) -> None:
        """Pause the run, whose next call is above a budget; none of its own calls is in flight.

        While other runs of a study have calls in flight, the run tries again after a while: these
        may cost less than is reserved for them.
        """
        if self.run.study_id is not None:
            again = now + STUDY_WAIT if calls_are_open(self.run.study_id) else None
            pause(self.run, PauseReason.STUDY_BUDGET, resume_at=again)
        elif self.budget.limit is not None:
            pause(self.run, PauseReason.BUDGET)

    def pause_for_storage(self, error: Exception) -> None:
        """Pause the run because of *error*; raise it if the pause cannot be stored either."""
        cause = error.__cause__ or error
        logger.error("results of %s cannot be stored", self.run, exc_info=cause)
        try:
            again = self.clock() + timedelta(seconds=settings.RUN_OUTAGE_WAIT)
            pause(self.run, PauseReason.NOT_STORED, resume_at=again)
        except DatabaseError:
            raise cause from None

    def store(self, batch: Sequence[CallResult], breaker: Breaker | None = None) -> Stored:
        """Store a batch of results in a transaction of its own. Raises NotStoredError."""
        try:
            return store_each(batch, now=self.clock(), random=self.random, breaker=breaker)
        except Exception as error:
            raise NotStoredError from error

    def arrived(self, n: int) -> None:
        """Count *n* calls as ended; their results are stored next."""
        self.in_flight -= n
        self.unstored = n

    def deliver(self, batch: Sequence[CallResult]) -> None:
        """Store a batch, then process its responses and react to its failures."""
        stored = self.store(batch, self.breaker)
        self.permits.note(batch, stored.failed)
        self.unstored = 0
        for reserved, cost in stored.costs:
            self.budget.finalize(reserved, cost)
        self.note_overrun(stored.costs)
        self.processing.add(stored.kept)
        self.react_to_failures(stored)
        self.on_progress()

    def should_stop(self) -> bool:
        """Return whether to stop, and renew the leases; called at least twice a second."""
        self.permits.keep(self.in_flight)
        if not self.renew() or self.asked() or self.clock() >= self.ends:
            return True
        states = Run.objects.values_list("status", "pause_reason", *SENT_TO)
        status, reason, *sent_to_now = states.get(pk=self.run.pk)
        runs = status == RunStatus.RUNNING
        self.note_outage(reason in PASSING and not self.tries, over=runs and not reason)
        if runs and self.breaker.elsewhere and take_over_trying(self.run, self.owner, self.clock()):
            self.tries = True
            self.breaker.take_over()
        # The next session opens another client, or pauses the run.
        return not runs or sent_to_now != self.sent_to

    def note_outage(self, elsewhere: bool, over: bool) -> None:
        """Send nothing while the run shows that another worker tries the endpoint."""
        if elsewhere and not self.breaker.elsewhere:
            self.breaker.tried_elsewhere(True)
            forget_failures(self.breaker)
        elif over:
            self.breaker.tried_elsewhere(False)

    def renew(self) -> bool:
        """Renew the leases if it is time, and say how many replies wait to be processed.

        Return False if another worker took the place.
        """
        now = self.clock()
        if self.processing.waiting != self.waiting_shown and now >= self.show_at:
            self.show_at = now + SHOW_WAITING
            self.waiting_shown = self.processing.waiting
            show_waiting(self.run, self.owner, self.waiting_shown)
        if now < self.renew_at:
            return True
        self.renew_at = now + timedelta(seconds=settings.RUN_LEASE_SECONDS / 4)
        if job_queue.renew_leases(self.run, self.owner, now):
            return True
        logger.warning("another worker took over %s", self.run)
        return False

    def react_to_failures(self, stored: Stored) -> None:
        """Pause the run if every call would fail, or if the endpoint refuses calls."""
        if self.tries and not self.breaker.is_open:
            self.waits = self.tries = False
            note_trying(self.run, self.owner, False)
            forget_pause(self.run)
        elif self.breaker.cause is not None and not self.tries and not self.breaker.elsewhere:
            self.tries = show_outage(self.run, self.breaker.cause)
            note_trying(self.run, self.owner, self.tries)
            self.breaker.tried_elsewhere(not self.tries)
        with transaction.atomic():
            failures = without_ended_waits(self.run, stored.failed, self.clock())
            for failure in failures:
                if fails_every_call(failure):
                    pause_for_failure(self.run, failure, self.clock())
            if self.breaker.failed_probes >= (1 if self.waits else FAILED_PROBES):
                self.pause_for_outage()
            if self.waits or self.gate.refuses_all:
                pause_if_limited(self.run, failures, self.clock())

    def pause_for_outage(self) -> None:
        """Pause the run until the next probe."""
        pause_for_outage(self.run, self.breaker.cause, self.clock())

    def wait_for_due(self) -> bool:
        """Wait for the next call if it may be made soon; return False to end the session."""
        soon = self.clock() + LONGEST_RETRY_WAIT
        while not (self.should_stop() or self.permits.account.waits_until(soon)):
            now = self.clock()
            if job_queue.due_jobs(self.run, now).exists():
                if self.breaker.capacity(now.timestamp()) and self.permits.one_fits():
                    return True
                time.sleep(0.2)
                continue  # other workers make all the calls that the account allows
            pending = Job.objects.filter(run=self.run, status=JobStatus.PENDING)
            if not pending.filter(next_at__lte=soon).exists():
                return False
            time.sleep(0.2)
        return False
