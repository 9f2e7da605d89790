"""Reports of worker processes, by which pages know that a worker is running."""

from __future__ import annotations

import logging
import socket
from datetime import timedelta
from threading import Event, Thread

from django.db import DatabaseError, connections

from evaluations.models import Worker
from evaluations.runs.services.worker_names import new_name
from gradeapp.common.database_clock import database_now

logger = logging.getLogger(__name__)

REPORT_SECONDS = 3.0
# Rows of workers that were killed are deleted after this time.
FORGOTTEN = timedelta(days=1)


class Reporter:
    """Reports this process as a worker in a thread, from ``start`` to ``stop``."""

    def __init__(self, processes: int) -> None:
        self.name = new_name()
        self._processes = processes
        self._stopped = Event()
        self._thread = Thread(target=self._report_all, name="worker-reports", daemon=True)

    def start(self) -> None:
        """Report now, and then every few seconds."""
        self._thread.start()

    def stop(self) -> None:
        """Report no more, and remove the report."""
        self._stopped.set()
        self._thread.join()

    def report(self) -> None:
        """Store that this worker is running."""
        now = database_now()
        first = {
            "host": socket.gethostname()[:60],
            "processes": self._processes,
            "started_at": now,
            "seen_at": now,
        }
        Worker.objects.update_or_create(
            name=self.name, defaults={"seen_at": now}, create_defaults=first
        )

    def _report_all(self) -> None:
        Worker.objects.filter(seen_at__lt=database_now() - FORGOTTEN).delete()
        while True:
            try:
                self.report()
                if self._stopped.wait(REPORT_SECONDS):
                    Worker.objects.filter(name=self.name).delete()
                    return
            except DatabaseError as error:
                logger.warning("the worker could not report: %s", error)
                if self._stopped.wait(REPORT_SECONDS):
                    return
            finally:
                # Processes of the pool that are started later must not inherit a connection.
                connections.close_all()
