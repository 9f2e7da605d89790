"""Files of results that the database has not stored yet, and what killed workers left there."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from random import Random

from django.conf import settings
from django.db import DatabaseError

from evaluations.llm import spool
from evaluations.llm.client import CallResult
from evaluations.models import Run
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

    def store(batch: Sequence[CallResult]) -> None:
        store_each(batch, now=now, random=Random())

    for path in sorted((Path(settings.VAR_DIR) / "spool").glob("*.jsonl")):
        try:
            spool.replay(path, store)
        except (DatabaseError, OSError):
            logger.exception("the results in %s cannot be stored", path)
