"""Files of results that the database has not stored yet, and what killed workers left there."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from random import Random

from django.conf import settings
from django.db import DatabaseError

from evaluations.llm import spool
from evaluations.llm.client import CallResult
from evaluations.models import Attempt, Run
from evaluations.runs.rules.call_keys import attempt_of, fits
from evaluations.runs.services.call_results import store_each

logger = logging.getLogger(__name__)


def spool_path(run: Run, owner: str) -> Path:
    """Return the file for results that the database did not store."""
    return Path(settings.VAR_DIR) / "spool" / f"{run.public_id}-{owner.replace(':', '-')}.jsonl"


def spools_of(run: Run) -> list[Path]:
    """Return the spool files of all workers for *run*."""
    return sorted((Path(settings.VAR_DIR) / "spool").glob(f"{run.public_id}-*.jsonl"))


def store_spooled(now: datetime) -> None:
    """Store the results that killed workers left in files on this machine.

    Call it before their jobs are released: a call that was answered is not asked again. What cannot
    be stored stays in its file.
    """

    for path in sorted((Path(settings.VAR_DIR) / "spool").glob("*.jsonl")):
        try:
            replay(path, lambda batch: store_each(batch, now=now, random=Random()))
        except (DatabaseError, OSError):
            logger.exception("the results in %s cannot be stored", path)


def replay(path: Path, store: Callable[[Sequence[CallResult]], object]) -> None:
    """Store the results in the file at *path* by *store*, and remove it.

    Results of no call of this database, as after a backup was restored, are kept beside it.
    """

    def deliver(results: Sequence[CallResult]) -> list[CallResult]:
        keys = [attempt_of(one.key) for one in results]
        rows = Attempt.objects.filter(pk__in=keys).values_list(
            "pk", "request_hash", "job__run__public_id"
        )
        hashes = {key: digest for key, digest, run in rows if path.name.startswith(f"{run}-")}
        own: list[CallResult] = []
        foreign: list[CallResult] = []
        for key, one in zip(keys, results, strict=True):
            (own if key in hashes and fits(one.key, hashes[key]) else foreign).append(one)
        store(own)
        if foreign:
            logger.error("%d results in %s are of no call here: kept", len(foreign), path)
        return foreign

    spool.replay(path, deliver)
