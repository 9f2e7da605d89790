"""Process stored responses beside the calls: read and score them, and plan what follows.

The answers are committed before. What a killed worker left is processed when the run ends
(``RunKind.catch_up``).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from queue import Empty, Queue
from threading import Thread

from django.db import connection, connections

from evaluations.models import Run
from evaluations.runs.kinds import Kept, followers, kind_of
from evaluations.runs.selectors.kept_figures import EVERY, MANY_JOBS, keep_figures
from evaluations.runs.selectors.run_counts import sums_of

logger = logging.getLogger(__name__)

# So many batches may wait; then storing waits too, so that memory stays bounded.
MOST_BATCHES = 200
# Responses that are processed together; on SQLite nothing else is stored in this time.
TOGETHER = 32
# So long, in seconds, few responses wait for others: what is computed once for a batch costs more
# than what is computed for each of them.
GATHER = 0.25


def process(run: Run, kept: Kept) -> None:
    """Let the kind of *run* process *kept*, and the followers its new responses.

    An exception is logged: the answers are stored.
    """
    try:
        kind_of(run).after_store(run, kept)
    except Exception:
        logger.exception("responses of %s stay unread so far", run)
    if kept.responses:
        for follower in followers():
            follower.after_responses(run, kept.responses)


class Processing:
    """A thread that processes what is stored, in the order in which it was stored.

    In a transaction of the caller there is no thread, because another connection would not see
    the responses: ``add`` processes them at once.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._batches: Queue[Kept | None] = Queue(MOST_BATCHES)
        self._thread: Thread | None = None
        self._added = self._processed = 0
        # When the figures of the pages are computed next; never where a page computes them at once.
        self._figures_at = 0.0 if sums_of(run).planned >= MANY_JOBS else float("inf")

    @property
    def waiting(self) -> int:
        """The number of stored replies that are not processed yet."""
        return self._added - self._processed

    def start(self) -> None:
        """Start the thread."""
        if not connection.in_atomic_block:
            name = f"processing-{self._run.pk}"
            self._thread = Thread(target=self._process_all, name=name, daemon=True)
            self._thread.start()

    def add(self, kept: Kept) -> None:
        """Process *kept* later; at once without a thread."""
        if not _size(kept):
            return
        if self._thread is None:
            process(self._run, kept)
        else:
            self._added += _size(kept)
            self._batches.put(kept)

    def finish(self, tick: Callable[[], object]) -> None:
        """Process the rest, and call ``tick()`` twice a second until that is done."""
        if self._thread is None:
            return
        self._batches.put(None)
        while self._thread.is_alive():
            self._thread.join(0.5)
            tick()
        self._thread = None

    def _process_all(self) -> None:
        try:
            more = True
            while more:
                kept, more = self._next()
                if not _size(kept):
                    continue
                try:
                    process(self._run, kept)
                except Exception:
                    logger.exception("what follows responses of %s is planned later", self._run)
                self._processed += _size(kept)
                self._keep_figures()
        finally:
            connections.close_all()  # those of this thread

    def _keep_figures(self) -> None:
        if time.monotonic() >= self._figures_at:
            self._figures_at = time.monotonic() + EVERY
            try:
                keep_figures(self._run)
            except Exception:
                logger.exception("figures of %s are computed by its pages", self._run)

    def _next(self) -> tuple[Kept, bool]:
        """Wait for a batch and join those that come soon after it; False at the end."""
        joined = Kept()
        batch = self._batches.get()
        ends = time.monotonic() + GATHER
        while batch is not None:
            joined.responses += batch.responses
            joined.done += batch.done
            if _size(joined) >= TOGETHER:
                return joined, True
            try:
                batch = self._batches.get(timeout=max(0.0, ends - time.monotonic()))
            except Empty:
                return joined, True
        return joined, False


def _size(kept: Kept) -> int:
    return max(len(kept.responses), len(kept.done))
