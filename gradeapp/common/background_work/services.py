"""The life of work in the background: claimed by one worker, stopped, lost, gone on with.

A worker claims its work by one conditional update and holds it by its own name: whoever
was taken for lost and replaced changes nothing any more. What is noted between the two
is each work's own.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django.db.models import Q, QuerySet
from django.utils import translation
from django.utils.translation import gettext as _

from gradeapp.common.background_work.models import (
    GOES_ON,
    BackgroundWork,
    current_language,
)
from gradeapp.common.named import WorkStatus as Is
from gradeapp.common.refusals import Conflict, Refusal

logger = logging.getLogger(__name__)

Clock = Callable[[], datetime]
Work = TypeVar("Work", bound=BackgroundWork)


class Stopped(Exception):
    """Somebody asked to stop, or another worker has the work."""


# ---- what people do ----


def stop(work: BackgroundWork, now: datetime) -> bool:
    """Ask the worker to stop; stopped at once where none has it. False where it is not live."""
    rows = type(work)._default_manager.filter(pk=work.pk)
    waiting = rows.filter(status=Is.QUEUED).update(status=Is.STOPPED, ended_at=now)
    return bool(waiting or rows.filter(status=Is.WORKING).update(stop_asked=True))


def queue_again(rows: QuerySet[Work], work: Work, now: datetime, **changes: Any) -> None:
    """Queue *work* again, one of *rows*; raises Conflict where it did not end early."""
    note_lost_workers(type(work), now)
    ended = rows.filter(pk=work.pk, status__in=GOES_ON)
    if not ended.update(worker="", **afresh(), **changes):
        raise Conflict(_("This cannot be resumed any more. Reload the page."))


def afresh() -> dict[str, Any]:
    """Return the columns of work that a person sends to the workers (again)."""
    said = {"error": "", "refusal": "", "language": current_language()}
    return {"status": Is.QUEUED, "stop_asked": False, **said}


# ---- what a worker does ----


def claim(rows: QuerySet[Work], pk: int, now: datetime, **changes: Any) -> Work | None:
    """The work *pk* of *rows*, for this process alone; None where it waits for no worker."""
    taken = rows.filter(pk=pk, status=Is.QUEUED).update(
        status=Is.WORKING,
        worker=uuid.uuid4().hex,
        heartbeat=now,
        started_at=now,
        ended_at=None,
        **changes,
    )
    return rows.get(pk=pk) if taken else None


def held(work: Work) -> QuerySet[Work]:
    """The row of *work* while the worker that claimed it has it; nothing afterwards."""
    rows = type(work)._default_manager
    return rows.filter(pk=work.pk, worker=work.worker, status=Is.WORKING)


def carry_out(
    work: Work,
    task: Callable[[], str],
    clock: Clock,
    details: Callable[[], dict[str, Any]] = dict,
) -> str | None:
    """Do *task*, which gives the status to end with, and write that end with *details*.

    Returns the status: stopped where the task raised Stopped, failed where it raised
    anything else; None where another worker has the work by now. The sentence of a Refusal is
    kept for the page, in the language of the work.
    """
    error = refused = ""
    with translation.override(work.language):
        try:
            status = task()
        except Stopped:
            status = Is.STOPPED
        except Refusal as refusal:
            logger.info("%s refused: %s: %s", work._meta.verbose_name, work.pk, refusal.code)
            status, error, refused = Is.FAILED, refusal.code[:40], str(refusal)
        except Exception:
            logger.exception("%s failed: %s", work._meta.verbose_name, work.pk)
            status, error = Is.FAILED, "unexpected"
    said = {"error": error, "refusal": refused}
    ended = held(work).update(status=status, ended_at=clock(), worker="", **said, **details())
    return status if ended else None


# ---- what the clock does ----


def note_lost_workers(model: type[BackgroundWork], now: datetime) -> None:
    """Work whose worker has been silent for too long waits for a person."""
    silent = Q(heartbeat__lt=now - model.lease()) | Q(heartbeat__isnull=True)
    lost = model._default_manager.filter(silent, status=Is.WORKING)
    lost.update(status=Is.INTERRUPTED, ended_at=now, worker="", error="worker_lost")


def note_if_lost(work: BackgroundWork, now: datetime) -> None:
    """Look whether the worker of *work* is lost; *work* then says so too."""
    if work.silent(now):
        note_lost_workers(type(work), now)
        work.refresh_from_db(fields=["status", "ended_at", "worker", "error"])


def waiting(rows: QuerySet[Work], now: datetime) -> list[int]:
    """The ids of those *rows* that wait for a worker, with lost workers noted.

    Safe to call at any time, anywhere, twice.
    """
    note_lost_workers(rows.model, now)
    return list(rows.filter(status=Is.QUEUED).order_by("pk").values_list("pk", flat=True))
