"""The Celery application on a clock that is wrong by the seconds in the file ``CLOCK_FILE``."""

import os
import time
from datetime import datetime, timedelta
from pathlib import Path

from celery.worker import request
from django.utils import timezone

right, file = time.time, Path(os.environ["CLOCK_FILE"])


def wrong_by() -> float:
    """The present error of the clock in seconds; 0 while the file is being written."""
    return float(file.read_text() or 0)


class WrongDatetime(datetime):
    """A datetime whose ``now`` is wrong."""

    @classmethod
    def now(cls, tz=None):  # type: ignore[no-untyped-def]
        """The wrong time."""
        return datetime.now(tz) + timedelta(seconds=wrong_by())


time.time = lambda: right() + wrong_by()
timezone.datetime = request.datetime = WrongDatetime  # type: ignore[attr-defined,misc]

from gradeapp.celery import app  # noqa: E402

__all__ = ["app"]
