"""Runs by batch, and the files of replies to them."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from evaluations.models import Batch, Endpoint, Run
from evaluations.runs.services.batches import request_lines
from tests.evaluations.run_world import planned
from tests.factories import make_endpoint


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
