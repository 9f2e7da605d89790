"""Runs against the scripted endpoint, for tests."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils import timezone

from evaluations.models import Endpoint, Run
from evaluations.runs.services.endpoints import save_endpoint
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.runs import start_run
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer


def scripted_endpoint(server: ScriptedServer, **options: Any) -> Endpoint:
    """Save the endpoint of *server*; *options* are those of ``save_endpoint``."""
    fields = {"name": "scripted", "model": "scripted-demo", "acting_user": None, **options}
    return save_endpoint(base_url=server.base_url, **fields)


def planned(endpoint: Endpoint, items: int, **options: Any) -> Run:
    """Start a run over a new dataset of *items* questions; *options* are those of ``start_run``."""
    task = make_task(make_dataset())
    for number in range(1, items + 1):
        make_question(task, stem=f"Which one is right in item {number}?\nA. a\nB. b\nC. c\nD. d")
    return start_run(endpoint=endpoint, dataset=task.dataset, acting_user=None, **options)


def worked(run: Run, at: datetime | None = None) -> Run:
    """Work on *run*, at the time *at* or now, and read it again."""
    work_on_run(run.pk, clock=lambda: at or timezone.now())
    run.refresh_from_db()
    return run
