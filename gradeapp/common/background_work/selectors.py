"""How far work in the background is, and how long the rest takes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from gradeapp.common.background_work.models import BackgroundWork

# Too little was done before to say how long the rest takes.
LEAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """What is done of all, and the seconds since the worker began and those left, if known."""

    done: int
    total: int
    seconds: float
    seconds_left: float | None
    live: bool


def progress(
    work: BackgroundWork, now: datetime, done: int, total: int, *, measured: int, rest: int
) -> Progress:
    """How far *work* is at *now*: *done* of *total*.

    The time left goes by what this worker has *measured* of its own work and what is
    the *rest*, both in the same unit.
    """
    ends = now if work.live else work.ended_at or now
    seconds = (ends - work.started_at).total_seconds() if work.started_at else 0.0
    left = None
    if work.live and measured > 0 and seconds >= LEAST_SECONDS:
        left = seconds * max(0, rest) / measured
    return Progress(done, max(done, total), seconds, left, work.live)
