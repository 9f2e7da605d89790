"""Batches through the batch API of an endpoint, one stored step after the other.

A step is one call: upload the file, create the batch, look at it, fetch its replies. A worker holds
the batch meanwhile, and stores what came of the step before the next one. After ``kill -9`` another
worker goes on with the step that is not stored. Only the creation of a batch must not be repeated:
before it the worker asks the endpoint for a batch that bears our name.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from tempfile import TemporaryFile
from typing import Any

from django.db import DatabaseError
from django.db.models import Exists, OuterRef

from evaluations.llm.batch_api import CANCELLING, COMPLETED, FAILED, BatchAPI, RemoteBatch
from evaluations.llm.batch_files import bounded_lines, lost, not_begun
from evaluations.llm.client import ChatFailure, FailureKind, Limits
from evaluations.models import Batch, Endpoint, Job, Run
from evaluations.models.vocabulary import BatchState, JobStatus, PauseReason, RunStatus
from evaluations.runs.selectors.run_words import (
    ENDPOINT_CHANGED,
    FEWER_REPLIES,
    NO_FILES_YET,
    STEP_FAILED,
)
from evaluations.runs.services.batch_making import HELD, HOLD, make_batches, release_unfinished
from evaluations.runs.services.batch_reports import BatchReport, record_read
from evaluations.runs.services.batches import (
    give_up,
    release_answered,
    release_rest,
    request_lines,
    store_lines,
)
from evaluations.runs.services.endpoints import open_chat
from evaluations.runs.services.frozen import has_its_address, is_still_the_same
from evaluations.runs.services.run_states import WORKABLE, finalize, pause, pause_for_failure
from evaluations.runs.services.worker_names import ended_workers, new_name
from gradeapp.common.database_clock import DatabaseClock
from gradeapp.common.refusals import Conflict, Refusal
from gradeapp.common.storable import storable

logger = logging.getLogger(__name__)

K = FailureKind
# A batch is looked at after a tenth of its age, within these limits; after a failure later.
SOONEST, LATEST = timedelta(seconds=10), timedelta(minutes=15)
# Whether a batch was created is asked again after this time, when the endpoint has noticed it.
UNSURE = timedelta(seconds=60)
# Every call would fail alike: a person has to do something.
NEEDS_A_PERSON = frozenset({K.AUTH, K.QUOTA, K.ADDRESS, K.CERTIFICATE, K.REDIRECT})
# The endpoint has no batch API, or does not take this batch.
REJECTED = frozenset({K.NOT_FOUND, K.BAD_REQUEST, K.CONTEXT_LENGTH, K.NO_IMAGES, K.OVERSIZE})
# With these an endpoint says that it has not created a batch.
REFUSED = frozenset(range(400, 500)) - {408, 409}
# So often in a row an endpoint may refuse to show a batch that it has, send fewer replies than
# it counts, or name no file of a completed batch, before they are lost.
MOST_MISSING = 5
# What an endpoint said, and how much of it is kept.
TEXTS = {"error": 400, "remote_state": 40}
BUDGETS = (PauseReason.BUDGET, PauseReason.STUDY_BUDGET, PauseReason.SPENDING_CAP)


class ShortFileError(ChatFailure):
    """The files have fewer replies than the endpoint counts, or are not there yet."""


class HoldLostError(Exception):
    """Another worker holds the batch, or it has ended."""


def runs_with_batch_work(now: datetime) -> list[int]:
    """Return the ids of the runs whose batches by API wait for a worker at *now*.

    Those that are due for longest come first, runs without a batch last.
    """
    free_batches()
    due = Batch.objects.filter(state=BatchState.WAITING, by_api=True)
    due = due.filter(HELD.free(now), next_at__lte=now).order_by("next_at", "pk")
    to_send = _runs_to_send().order_by("pk").values_list("pk", flat=True)
    return list(dict.fromkeys([*due.values_list("run_id", flat=True), *to_send]))


def free_batches() -> None:
    """Free the batches whose worker has ended, or the process that made them."""
    release_unfinished()
    batches = Batch.objects.filter(state=BatchState.WAITING, by_api=True, next_at__isnull=False)
    held = set(batches.exclude(holder="").values_list("holder", flat=True))
    for dead in ended_workers(held):
        HELD.release(batches, dead)


def _runs_to_send() -> Any:
    """Return the runs that have requests to send, and no batch by API that waits."""
    pending = Job.objects.filter(run=OuterRef("pk"), status=JobStatus.PENDING)
    waiting = Batch.objects.filter(run=OuterRef("pk"), state=BatchState.WAITING, by_api=True)
    live = Run.objects.filter(by_batch=True, batch_api=True, status__in=WORKABLE)
    return live.filter(Exists(pending), ~Exists(waiting))


def work_on_batches(run_id: int, *, clock: Callable[[], datetime] | None = None) -> bool:
    """Do the steps of the batches of a run that are due, and send what became due by them.

    Return whether there was a step that this worker could do.
    """
    owner = new_name()
    free_batches()
    worked = _work_on_due(run_id, owner, clock or DatabaseClock())
    to_send = _runs_to_send().filter(pk=run_id).first()
    if to_send is not None and _send(to_send):
        # A clock that was read before may be a part of a millisecond behind the new batch.
        worked = _work_on_due(run_id, owner, clock or DatabaseClock()) or worked
    return worked


def _send(run: Run) -> bool:
    """Make batches of the requests of *run* that are due; return whether there are any."""
    try:
        return bool(make_batches(run, acting_user=None, by_api=True))
    except Conflict as nothing:
        if nothing.code in BUDGETS:
            pause(run, PauseReason(nothing.code))
    except Refusal:
        logger.exception("no batch can be made of %s", run)
        pause(run, PauseReason.BATCH_REJECTED)
    return False


def _work_on_due(run_id: int, owner: str, clock: Callable[[], datetime]) -> bool:
    """Work on the batches of a run that are due; return whether one was held for that."""
    due = Batch.objects.filter(run=run_id, state=BatchState.WAITING, by_api=True)
    worked = False
    for key in list(due.filter(next_at__lte=clock()).values_list("pk", flat=True)):
        try:
            if _hold(key, owner, clock()):
                worked = True
                BatchWork(key, owner, clock).work()
        finally:
            HELD.release(Batch.objects.filter(pk=key), owner)
    return worked


def _hold(key: int, owner: str, now: datetime) -> bool:
    """Let *owner* hold a batch that is due, if nobody holds any; return whether it may work.

    One worker process at a time waits for batch APIs: endpoints that say nothing would hold all of
    them. Others are looked for before the claim and after it, so that of two that claim two batches
    at the same moment none works; the clock asks again.
    """
    waiting = Batch.objects.filter(state=BatchState.WAITING, by_api=True)
    # A batch without a time to look at it is not worked on, but made.
    others = waiting.filter(HELD.running(now), next_at__isnull=False).exclude(holder=owner)
    due = waiting.filter(pk=key, next_at__lte=now)
    if others.exists() or not HELD.claim(due, owner, until=now + HOLD, now=now):
        return False
    return not others.exists()


class BatchWork:
    """The steps of one batch, by the worker that holds it."""

    def __init__(self, key: int, owner: str, clock: Callable[[], datetime]) -> None:
        related = ("run__endpoint", "run__judge", "run__dataset")
        self.batch = Batch.objects.select_related(*related).get(pk=key)
        self.run, self.owner, self.clock = self.batch.run, owner, clock
        assert self.run.endpoint is not None  # a run by batch has one
        self.endpoint: Endpoint = self.run.endpoint
        self.api = BatchAPI(self.open)

    def open(self, limits: Limits) -> Any:
        """Return a client as for calls, with *limits*."""
        return open_chat(self.endpoint, limits=limits)

    def keep(self, **facts: Any) -> None:
        """Store *facts* of the batch. Raises HoldLostError if it is not held any more."""
        for name in TEXTS.keys() & facts.keys():
            facts[name] = storable(str(facts[name]), TEXTS[name])
        rows = Batch.objects.filter(pk=self.batch.pk, state=BatchState.WAITING, holder=self.owner)
        if not rows.update(**facts, held_until=self.clock() + HOLD):
            raise HoldLostError
        for name, value in facts.items():
            setattr(self.batch, name, value)

    @property
    def unwanted(self) -> bool:
        """Whether a person has stopped or paused the run, or late replies have finished it."""
        run = self.run
        paused = run.status == RunStatus.PAUSED and run.pause_reason == PauseReason.BY_PERSON
        return paused or run.status in (RunStatus.STOPPING, RunStatus.STOPPED, RunStatus.FINISHED)

    def work(self) -> None:
        """Do the due steps, and store when the next one is due."""
        try:
            if self.may_go_on():
                self.step()
        except HoldLostError:
            logger.info("batch %s is held by another worker", self.batch.pk)
        except ChatFailure as failure:
            with suppress(HoldLostError):
                self.react(failure)
        except Refusal as refusal:
            with suppress(HoldLostError):
                self.cannot_send(refusal)
        except (OSError, DatabaseError):
            logger.exception("batch %s: results cannot be stored", self.batch.pk)
            with suppress(HoldLostError, DatabaseError):
                self.wait(SOONEST)
        except Exception:  # nothing of ours may fetch a file every ten seconds for ever
            logger.exception("batch %s: its step failed", self.batch.pk)
            with suppress(HoldLostError, DatabaseError):
                self.later(error=STEP_FAILED, error_status=None)

    def may_go_on(self) -> bool:
        """Pause the run of a changed endpoint; return whether the batch has a step all the same.

        At the same address a batch that is there is looked at, cancelled and read: its requests
        have the model that they were made for. Nothing is sent.
        """
        if is_still_the_same(self.run, self.endpoint):
            return True
        pause(self.run, PauseReason.ENDPOINT_CHANGED)
        if has_its_address(self.run, self.endpoint) and (self.batch.remote_id or self.unwanted):
            return True
        self.keep(next_at=self.clock() + LATEST, error=ENDPOINT_CHANGED)
        return False

    def step(self) -> None:
        """Send the batch if it is not sent, else look at it; fetch its replies if it is over."""
        known = bool(self.batch.remote_id)
        found = self.api.state(self.batch.remote_id) if known else self.sent()
        if found is None:
            return
        if self.unwanted and not found.is_over and found.state != CANCELLING:
            self.keep(cancel_asked_at=self.clock())
            # It may be over by now, or cannot be cancelled: the next look will say.
            with suppress(ChatFailure):
                found = self.api.cancel(found.id)
        self.keep(remote_state=found.state, remote_answered=found.answered)
        if found.is_over:
            self.read(found)
        else:
            self.keep(failures=0, refusals=0, error="", error_status=None)
            age = self.clock() - self.batch.created_at
            self.wait(min(max(age / 10, SOONEST), LATEST))

    def sent(self) -> RemoteBatch | None:
        """Return the batch at the endpoint, created unless it is there; None if it ends here."""
        batch, ours = self.batch, self.batch.public_id.hex
        if not batch.input_file and (self.unwanted or not self.uploaded()):
            self.end(BatchState.DISCARDED, not_begun("not sent"))
            return None
        found = self.api.find(ours, batch.input_file, batch.created_at.timestamp())
        if found is None and self.unwanted:
            # A batch that was perhaps created can come into the endpoint's list after this look.
            why = lost("perhaps created") if batch.taken_at else not_begun("not sent")
            self.end(BatchState.DISCARDED, why)
            return None
        found = found or self.created(ours)
        try:
            self.keep(remote_id=found.id, remote_state=found.state)
        except HoldLostError:
            self.cancel_second(found)
            raise
        return found

    def created(self, ours: str) -> RemoteBatch:
        """Create the batch; from before the call until it is refused the endpoint may have it."""
        before = self.batch.taken_at
        now = self.clock()
        # Nobody else holds it. Who goes on after a kill looks for it when the endpoint shows it.
        self.keep(remote_state="", taken_at=before or now, next_at=now + UNSURE)
        try:
            return self.api.create(self.batch.input_file, ours)
        except ChatFailure as failure:
            if failure.kind in NEEDS_A_PERSON or failure.http_status in REFUSED:
                self.keep(taken_at=before)
            raise

    def cancel_second(self, created: RemoteBatch) -> None:
        """Cancel a batch that is not stored: ours was given up meanwhile, or created twice.

        Twice, as this worker was stopped for longer than its hold, just before the call.
        """
        kept = Batch.objects.values_list("remote_id", flat=True).get(pk=self.batch.pk)
        if kept != created.id:
            logger.warning("batch %s is not stored as %s; it is cancelled", created.id, self.batch)
            with suppress(ChatFailure):
                self.api.cancel(created.id)

    def uploaded(self) -> bool:
        """Upload the requests that wait for a reply; return whether there are any."""
        release_answered(self.batch)
        with TemporaryFile() as file:
            n = 0
            for line in request_lines(self.batch):
                file.write(line)
                n += 1
            size = file.tell()
            file.seek(0)
            self.keep(requests=n, size=size)
            if n:
                self.keep(input_file=self.api.upload(file, self.batch.file_name))
        return bool(n)

    def read(self, found: RemoteBatch) -> None:
        """Store the replies of a batch that is over; what has none is due again."""
        patient = self.batch.refusals < MOST_MISSING
        if patient and found.has_no_files_yet(self.batch.requests):
            raise ShortFileError(K.MALFORMED, NO_FILES_YET)
        report = BatchReport()
        for file_id in filter(None, (found.output_file, found.error_file)):
            with TemporaryFile() as file:
                mask = self.api.fetch(file_id, file, self.batch.requests)
                file.seek(0)
                self.keep(remote_state=found.state)
                store_lines(self.run, bounded_lines(file), report, mask)
        record_read(self.run, report, None)
        fewer = (found.answered or 0) > report.completed
        if fewer and patient:
            raise ShortFileError(K.MALFORMED, FEWER_REPLIES)
        # One that was begun names what it did not begin: of what it does not name nobody knows. A
        # file that was rejected is not begun.
        begun = found.state != FAILED and report.calls
        if found.state == COMPLETED or fewer or begun:
            failure = lost("the endpoint sent no reply to this request of a batch")
        else:
            failure = not_begun(f"the batch ended as {found.state}")
        rejected = found.state == FAILED
        at_our_wish = not rejected and self.batch.cancel_asked_at is not None
        if not (report.answered or report.same or self.unwanted or at_our_wish):
            # Sent again, the requests would come back in the same way.
            pause(self.run, PauseReason.BATCH_REJECTED)
        self.end(BatchState.FAILED if rejected else BatchState.READ, failure, found.text)

    def end(self, state: BatchState, failure: ChatFailure, text: str = "") -> None:
        """End the batch as *state*; what has no reply fails by *failure*."""
        release_rest(self.batch, failure)
        ended = {"state": state, "ended_at": self.clock(), "next_at": None}
        self.keep(**ended, failures=0, refusals=0, error=text, error_status=None)
        finalize(self.run.pk, self.clock())

    def wait(self, time: timedelta) -> None:
        """Let a worker look at the batch again after *time*."""
        self.keep(next_at=self.clock() + time)

    def later(self, least: timedelta = timedelta(0), *, refusals: int = 0, **said: Any) -> None:
        """Try the step again after a time, at *least* that; each failure in a row doubles it."""
        batch = self.batch
        wait = min(SOONEST * 2 ** min(batch.failures, 7), LATEST)
        if batch.input_file and not batch.remote_id:
            wait = max(wait, UNSURE)
        counts = {"failures": batch.failures + 1, "refusals": refusals}
        self.keep(next_at=self.clock() + max(wait, least), **counts, **said)

    def react(self, failure: ChatFailure) -> None:
        """Try again later, or let the run wait for a person, after *failure* of a step."""
        batch, kind = self.batch, failure.kind
        said = {"error": failure.text or failure.kind, "error_status": failure.http_status}
        refused = kind in REJECTED or isinstance(failure, ShortFileError)
        refusals = batch.refusals + 1 if refused else 0
        missing = batch.remote_id and refusals <= MOST_MISSING
        if kind in NEEDS_A_PERSON:
            self.keep(next_at=self.clock() + LATEST, **said)
            pause_for_failure(self.run, failure, self.clock())
        elif kind in REJECTED and not missing:
            status = failure.http_status
            why = failure.text or failure.kind
            if batch.remote_id:
                with suppress(ChatFailure):
                    self.api.cancel(batch.remote_id)
            give_up(batch, why, BatchState.FAILED, acting_user=None, http_status=status)
            pause(self.run, PauseReason.BATCH_REJECTED)
        else:
            least = timedelta(seconds=failure.retry_after or 0)
            self.later(least, refusals=refusals, **said)

    def cannot_send(self, refusal: Refusal) -> None:
        """Let the run wait for a person: without a key, at a forbidden address, or changed."""
        if isinstance(refusal, Conflict):
            give_up(self.batch, str(refusal), BatchState.FAILED, acting_user=None)
            pause(self.run, PauseReason.BATCH_REJECTED)
            return
        self.keep(next_at=self.clock() + LATEST, error=str(refusal))
        no_key = refusal.code == "no_key"
        pause(self.run, PauseReason.NO_KEY if no_key else PauseReason.ADDRESS)
