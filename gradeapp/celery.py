"""The Celery application. Messages are hints; the database is the queue of record."""

from __future__ import annotations

import os
import warnings

from celery import Celery

# Messages are JSON only, which is what makes this warning right for pickles beside the point.
warnings.filterwarnings("ignore", message="You're running the worker with superuser")
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gradeapp.settings")
app = Celery("gradeapp")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["evaluations"])
