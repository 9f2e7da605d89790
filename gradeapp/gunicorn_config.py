"""gunicorn's configuration: ``gunicorn --config python:gradeapp.gunicorn_config``."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from gradeapp.start_rules import check_bind

wsgi_app = "gradeapp.wsgi:application"
bind = "127.0.0.1:8000"
worker_class = "gradeapp.web_worker.BufferedWorker"
workers = 2
threads = 4
# Preloading halves the time until the first page.
preload_app = True
loglevel = "warning"
control_socket_disable = True


def on_starting(server: Any) -> None:
    """Refuse an address that others would reach without a proxy."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
    from django.conf import settings

    for address in server.cfg.address:
        if not isinstance(address, tuple):
            continue  # a socket in a folder
        try:
            check_bind(
                address[0], demo=settings.DEMO, debug=settings.DEBUG, proxies=settings.PROXIES
            )
        except ImproperlyConfigured as refusal:
            sys.exit(str(refusal))
