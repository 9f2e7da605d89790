"""The Celery application. Messages are hints; the database is the queue of record."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
app = Celery("gradeapp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["evaluations"])
