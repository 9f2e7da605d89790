"""Runs by batch: by files and the replies to them, and through a scripted batch API."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from evaluations.models import Batch, Endpoint, Response, Run
from evaluations.models.vocabulary import RunStatus
from evaluations.runs.selectors.runs import money
from evaluations.runs.services.batch_work import runs_with_batch_work, work_on_batches
from evaluations.runs.services.batches import request_lines
from gradeapp.common.database_clock import database_now
from tests.evaluations.run_world import planned, scripted_endpoint
from tests.factories import make_endpoint
from tests.scripted_server import ScriptedServer


def silent_endpoint() -> Endpoint:
    """An endpoint that nobody listens at: by batch files nothing is called."""
    made = make_endpoint()
    made.base_url = "http://127.0.0.1:8009/v1"
    made.price_input, made.price_output = Decimal(1000), Decimal(2000)
    made.save()
    return made


def by_batch(endpoint: Endpoint, items: int = 3, **options: Any) -> Run:
    return planned(endpoint, items, by_batch=True, **options)


def requests_of(batch: Batch) -> list[dict[str, Any]]:
    return [json.loads(line) for line in request_lines(batch)]


def answered(request: dict[str, Any], text: str = "【答案】A<eoa>") -> bytes:
    body = {
        "model": request["body"]["model"],
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
    response = {"status_code": 200, "request_id": "r", "body": body}
    return line_of(request["custom_id"], response=response)


def line_of(custom_id: str, **more: Any) -> bytes:
    return json.dumps({"id": "x", "custom_id": custom_id, "error": None, **more}).encode() + b"\n"


def batch_endpoint(server: ScriptedServer) -> Endpoint:
    """An endpoint with prices, whose batch API is that of *server*."""
    prices = {"price_input": Decimal(1000), "price_output": Decimal(2000)}
    return scripted_endpoint(server, **prices)


class Killed(BaseException):
    """Stands for ``kill -9``: nothing below catches it. The real one is in ``tests/faults``."""


def by_api(endpoint: Endpoint, items: int = 3, **options: Any) -> Run:
    return planned(endpoint, items, batch_api=True, **options)


def look(run: Run, times: int = 1) -> Run:
    """Work on the batches of *run* as the clock does, when they are due."""
    for _time in range(times):
        Batch.objects.filter(next_at__isnull=False).update(next_at=database_now())
        for key in runs_with_batch_work(database_now()):
            work_on_batches(key)
    run.refresh_from_db()
    return run


def done_once(run: Run, server: ScriptedServer, items: int) -> None:
    """Check that every request was answered, stored and billed once, at half the price."""
    assert (run.status, Response.objects.filter(run=run).count()) == (RunStatus.FINISHED, items)
    assert len(server.ledger.prompts) == len(set(server.ledger.prompts)) == items
    tokens = run.responses.values_list("attempt__prompt_tokens", "attempt__completion_tokens")
    cost = sum(Decimal(read) / 1000 + Decimal(written) / 500 for read, written in tokens)
    assert money(run).spent == cost / 2
    assert money(run).exposed == money(run).spent
