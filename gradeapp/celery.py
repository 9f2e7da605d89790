"""The Celery application. Messages are hints; the database is the queue of record."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
import warnings
from contextlib import suppress

from billiard.process import active_children
from celery import Celery
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings

from gradeapp.redis_policy import eviction
from gradeapp.start_rules import in_one_sentence

# Messages are JSON only, which is what makes this warning right for pickles beside the point.
warnings.filterwarnings("ignore", message="You're running the worker with superuser")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
with in_one_sentence():
    settings.VAR_DIR  # noqa: B018 - reads the environment
app = Celery("gradeapp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["evaluations", "questions", "gradeapp.accounts", "gradeapp.audit"])


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def let_runs_stop(**_: object) -> None:
    """Tell the processes of the pool: one that works on a run takes no further calls.

    Celery's own polite stop waits for a task to end by itself, which a run does
    after minutes. Idle processes ignore this signal, and may begin a task that was fetched before
    the stop: so they are told again every second until the worker ends.
    """
    threading.Thread(target=_tell_children, name="stop-runs", daemon=True).start()


def _tell_children() -> None:
    """Send SIGINT to the processes of the pool every second, as long as this process lives."""
    while True:
        for child in active_children():
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGINT)
        time.sleep(1)


@worker_ready.connect  # type: ignore[untyped-decorator]
def warn_of_eviction(**_: object) -> None:
    """Warn at the start of a worker whose Redis may delete messages."""
    if policy := eviction(app.conf.broker_url):
        logging.getLogger(__name__).warning(
            "Redis deletes messages when its memory is full (maxmemory-policy is %s). Nothing is "
            "lost by that, but work begins later. Set it to noeviction.",
            policy,
        )
