"""R11: a message to the workers is sent after the commit, and none for what was undone."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, transaction

from evaluations.models import Run
from evaluations.runs import tasks
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_task
from tests.faults.table import FaultRow, ledger_says
from tests.scripted_server import ScriptedServer

RUNS = "/api/v1/runs/"


class UndoneError(Exception):
    """What ends a transaction here without a commit."""


@pytest.mark.django_db(transaction=True)
def test_a_message_is_sent_after_the_commit_of_a_slow_launch(
    admin: User, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, fault_row: FaultRow
) -> None:
    sent: list[tuple[int, bool]] = []

    def deliver(arguments: tuple[int], **_options: Any) -> None:
        """As a worker that gets the message at once."""
        sent.append((arguments[0], connection.in_atomic_block))
        Run.objects.get(pk=arguments[0])

    monkeypatch.setattr(tasks.work_on_run, "apply_async", deliver)
    make_question(make_task(make_dataset("exam")))
    scripted_endpoint(server)
    client = logged_in(admin)
    for number in range(20):
        form = {"endpoint": "scripted", "dataset": "exam", "start_anyway": True}
        form["idempotency_key"] = str(number)
        with transaction.atomic():  # the launch takes longer than the request
            started = client.post(RUNS, form, content_type="application/json")
            assert started.status_code == 201
            assert len(sent) == number
    assert [key for key, _ in sent] == list(Run.objects.order_by("pk").values_list("pk", flat=True))
    assert not any(within for _, within in sent)

    with suppress(UndoneError), transaction.atomic():
        lost = client.post(
            RUNS, form | {"idempotency_key": "lost"}, content_type="application/json"
        )
        raise UndoneError
    assert lost.status_code == 201
    assert len(sent) == 20
    tasks.work_on_run(lost.json()["id"])  # a message that came all the same finds nothing
    assert server.ledger.billed == 0
    fault_row(
        "R11",
        "20 runs are started in transactions that end later, and one that is undone",
        ledger=ledger_says(server),
        database=f"{Run.objects.count()} runs, {len(sent)} messages, each after its commit",
    )
