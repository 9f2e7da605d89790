"""One shift of one worker on one run, from the claim of a job to its stored answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from django.conf import settings

from evaluations.llm import spool
from evaluations.llm.blocking import run_pump
from evaluations.llm.budget import Budget
from evaluations.llm.callbacks import Callbacks
from evaluations.llm.client import CallResult, ChatRequest
from evaluations.llm.pump import Pace, PumpError, StopReason
from evaluations.llm.rate_limit import SharedSlowdown
from evaluations.models import Job, Run
from evaluations.models.vocabulary import JobStatus, PauseReason, RunStatus
from evaluations.runs.kinds import followers, kind_of
from evaluations.runs.selectors.runs import money, waits_for_endpoint
from evaluations.runs.services import queue
from evaluations.runs.services.call_results import Stored, is_wall, store_results
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.endpoints import open_chat
from evaluations.runs.services.frozen import is_still_the_same
from evaluations.runs.services.run_states import forget_pause, pause, pause_for_failure
from evaluations.runs.services.turned_away import accepts_calls, pause_if_refused
from gradeapp.common.refusals import Refusal

if TYPE_CHECKING:
    from evaluations.llm.openai_client import OpenAIChat

logger = logging.getLogger(__name__)

# A worker waits for a retry that is due so soon; beyond, it lets another run have its place.
PATIENCE = timedelta(seconds=5)


def spool_path(run: Run, owner: str) -> Path:
    """Where a worker keeps answers that the database did not take."""
    return Path(settings.VAR_DIR) / "spool" / f"{run.public_id}-{owner.replace(':', '-')}.jsonl"


def spools_of(run: Run) -> list[Path]:
    """What any worker left for *run*."""
    return sorted((Path(settings.VAR_DIR) / "spool").glob(f"{run.public_id}-*.jsonl"))


class WorkSession:
    """One worker on one run. Everything here is called in one thread, in turn."""

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
        self.asked, self.clock = asked, clock
        self.on_progress = on_progress
        self.random = Random()
        self.budget = Budget(run.budget)
        self.in_flight = min(self.endpoint.max_in_flight, settings.RUN_MAX_IN_FLIGHT)
        self.flying = 0
        # After a wait for the endpoint one call goes ahead, and the others follow slowly.
        self.probing = waits_for_endpoint(run)
        first = 1 if self.probing else None
        self.gate = SharedSlowdown(self.in_flight, random=self.random, first=first)
        self.renew_at = clock()

    def work(self) -> None:
        """Bring in what was left over, then pump until nothing is due, the shift ends or a stop."""
        for path in spools_of(self.run):
            spool.replay(path, self.deliver_late)
        self.budget = Budget(self.run.budget, money(self.run).exposed)
        while (chat := self.open_chat()) is not None:
            if self.pump(chat) is not StopReason.DRAINED or not self.wait_for_due():
                return

    def open_chat(self) -> OpenAIChat | None:
        """The client; None, and the run paused with its reason, where it cannot be used."""
        if not is_still_the_same(self.run, self.endpoint):
            pause(self.run, PauseReason.ENDPOINT_CHANGED)
            return None
        try:
            return open_chat(self.endpoint, in_flight=self.in_flight)
        except Refusal as refusal:
            no_key = refusal.code == "no_key"
            pause(self.run, PauseReason.NO_KEY if no_key else PauseReason.ADDRESS)
            return None

    def pump(self, chat: OpenAIChat) -> StopReason:
        """Keep calls in flight; a stop waits as long for answers as the endpoint may take."""
        try:
            result = run_pump(
                Callbacks(self.claim, self.deliver, self.should_stop),
                chat,
                in_flight=self.in_flight,
                spool_path=spool_path(self.run, self.owner),
                random=self.random,
                pace=Pace(grace=self.endpoint.timeout_seconds + 5),
                gate=self.gate,
            )
        except PumpError as error:
            raise error.__cause__ or error from None
        return result.stopped_because

    # ---- the desk of the pump ----

    def claim(self, n: int) -> Sequence[ChatRequest]:
        """Up to *n* calls, within this run's share of the endpoint and its budget."""
        now = self.clock()
        room = min(n, self.share(now) - self.flying)
        if room < 1:
            return []
        claimed = queue.claim(
            self.run, self.owner, room, now, prepare=self.prepare, budget=self.budget
        )
        self.flying += len(claimed)
        if not self.flying and self.budget.limit is not None and queue.due(self.run, now).exists():
            pause(self.run, PauseReason.BUDGET)
        return [one.request for one in claimed]

    def share(self, now: datetime) -> int:
        """How many calls this run may have in flight beside the other runs of its endpoint."""
        if self.probing:
            return 1
        others = Run.objects.filter(endpoint=self.endpoint, worker_until__gt=now)
        workers = others.exclude(worker="").count()
        return max(1, self.in_flight // max(1, workers))

    def prepare(self, job: Job) -> queue.Call:
        return call_for(self.run, job)

    def deliver(self, batch: Sequence[CallResult]) -> None:
        """Store a batch; the paid answers are committed before anything is made of them."""
        stored = store_results(batch, now=self.clock(), random=self.random)
        self.flying -= len(batch)
        for reserved, counted in stored.settled:
            self.budget.finalize(reserved, counted)
        self.make_of(stored)
        self.look_at(stored)
        self.on_progress()

    def should_stop(self) -> bool:
        """Asked at least twice a second; also renews the leases."""
        now = self.clock()
        if now >= self.renew_at:
            self.renew_at = now + timedelta(seconds=settings.RUN_LEASE_SECONDS / 4)
            if not queue.renew(self.run, self.owner, now):
                logger.warning("another worker took over %s", self.run)
                return True
        if self.asked() or now >= self.ends:
            return True
        status = Run.objects.values_list("status", flat=True).get(pk=self.run.pk)
        return status != RunStatus.RUNNING

    # ---- after the answers ----

    def make_of(self, stored: Stored) -> None:
        """Let the run's kind process what was stored, then the followers the new responses.

        The answers are safe: a defect of the kind is logged.
        """
        kept = stored.kept
        if not (kept.responses or kept.done):
            return
        try:
            kind_of(self.run).after_store(self.run, kept)
        except Exception:
            logger.exception("responses of %s stay unread so far", self.run)
        if kept.responses:
            for follower in followers():
                follower.after_responses(self.run, kept.responses)

    def look_at(self, stored: Stored) -> None:
        """Pause where no other call would fare better; wait where calls are turned away."""
        if self.probing and accepts_calls(stored.answered, stored.failures):
            self.probing = False
            forget_pause(self.run)
        for failure in stored.failures:
            if is_wall(failure):
                pause_for_failure(self.run, failure, self.clock())
        pause_if_refused(self.run, stored.failures, self.clock())

    def wait_for_due(self) -> bool:
        """Wait for the next retry, if it is due soon; False to end the shift."""
        soon = self.clock() + PATIENCE
        while not self.should_stop():
            if queue.due(self.run, self.clock()).exists():
                return True
            pending = Job.objects.filter(run=self.run, status=JobStatus.PENDING)
            if not pending.filter(next_at__lte=soon).exists():
                return False
            time.sleep(0.2)
        return False

    def deliver_late(self, batch: Sequence[CallResult]) -> None:
        """Store paid answers that an earlier worker could not store."""
        stored = store_results(batch, now=self.clock(), random=self.random)
        self.make_of(stored)
