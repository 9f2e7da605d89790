"""The worker class of gunicorn that slow clients cannot occupy.

gunicorn's own threads read a request from its socket, so that as many half-sent requests as there
are threads stop the site (docs/decisions/0008-web-server.md). Here one loop of waitress reads all
sockets, and a thread gets a request when all of it has arrived. gunicorn keeps the processes.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from gunicorn.workers.base import Worker
from waitress.server import BaseWSGIServer, create_server

from gradeapp.web_messages import Channel, bodiless_heads

# Seconds without a byte after which a connection is closed, and how often that is looked at.
SILENT_SECONDS = 30
LOOK_SECONDS = 5
MOST_CONNECTIONS = 500


def reads_forwarded(settings: Any) -> bool:
    """Return whether Django gets X-Forwarded-* and Forwarded, which waitress drops otherwise.

    It believes them where a proxy is declared; the demo and DEBUG refuse requests that have them.
    """
    return bool(settings.PROXIES or settings.HTTPS or settings.DEMO or settings.DEBUG)


class BufferedWorker(Worker):  # type: ignore[misc]
    """A process of gunicorn whose sockets are read by waitress."""

    def run(self) -> None:
        """Serve until the signal to stop."""
        # Django is set up when gunicorn loads the application, before this.
        from django.conf import settings

        threading.Thread(target=self.beat, daemon=True).start()
        dispatchers: dict[int, Any] = {}
        server = create_server(
            bodiless_heads(self.wsgi),
            map=dispatchers,
            sockets=[listener.sock for listener in self.sockets],
            threads=self.cfg.threads,
            connection_limit=MOST_CONNECTIONS,
            channel_timeout=SILENT_SECONDS,
            cleanup_interval=LOOK_SECONDS,
            asyncore_use_poll=True,
            max_request_header_size=32 * 1024,
            max_request_body_size=2 * settings.IMPORT_MAX_UPLOAD_MB * 2**20,
            clear_untrusted_proxy_headers=not reads_forwarded(settings),
            ident="",
        )
        for dispatcher in dispatchers.values():
            if isinstance(dispatcher, BaseWSGIServer):
                dispatcher.channel_class = Channel
        server.run()

    def beat(self) -> None:
        """Tell gunicorn that the process lives; end it when gunicorn is gone."""
        stopped = threading.Event()
        while not stopped.wait(1):
            self.notify()
            if os.getppid() != self.ppid:
                os.kill(os.getpid(), signal.SIGTERM)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End the loop of waitress, which lets running requests end."""
        sys.exit(0)
