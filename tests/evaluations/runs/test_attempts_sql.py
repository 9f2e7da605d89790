"""What SQL stores about calls is what the ORM would store, column by column."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from evaluations.models import Attempt
from evaluations.runs.services.attempts_sql import RESULT, SENT, insert_sent, update_results
from evaluations.runs.services.job_queue import Call
from tests.evaluations.runs.test_job_queue import NOW, planned

ENDED: dict[str, Any] = {
    "status": "answered",
    "error": "",
    "error_text": "a\\b \"c\" 'd' 问 %s",
    "http_status": 200,
    "prompt_tokens": 2**31 - 1,
    "completion_tokens": 0,
    "cost": Decimal("999999.12345678"),
    "response_model": "m",
    "request_id": "r",
    "body": '{"raw": "答\\n\\u0041"}',
    "finished_at": datetime(2026, 11, 21, 10, 0, 0, 123456, tzinfo=UTC),
    "seconds": 0.1,
    "during_outage": True,
    "cached_tokens": None,
    "reasoning_tokens": 3,
    "audio_tokens": None,
    "total_tokens": 7,
    "usage": "complete",
    "reported_cost": Decimal("0.00000001"),
}
CALLS = [
    Call([], {"temperature": 0.5, "stop": ["问"]}, "1" * 64, Decimal("0.12345678")),
    Call(
        *([], {}, "2" * 64, Decimal(0)),
        images=["a" * 64],
        images_omitted=2,
        option_order="CDAB",
        examples_used=5,
        prompt_bytes=2**31 - 1,
    ),
]


def stored(pks: list[int]) -> list[dict[str, Any]]:
    rows = list(Attempt.objects.filter(pk__in=pks).order_by("pk").values())
    return [{name: row[name] for name in row if name not in ("id", "job_id")} for row in rows]


@pytest.mark.django_db
def test_sql_stores_the_columns_that_the_orm_stores() -> None:
    """Sent, then answered or failed: every column, with quotes, other scripts and nulls."""
    jobs = list(planned(4).jobs.all())
    by_orm = [call.attempt(job, NOW) for call, job in zip(CALLS, jobs[:2], strict=True)]
    by_sql = [call.attempt(job, NOW) for call, job in zip(CALLS, jobs[2:], strict=True)]
    Attempt.objects.bulk_create(by_orm)
    insert_sent(by_sql)
    keys = [one.pk for one in by_orm], [one.pk for one in by_sql]
    assert sorted(keys[1]) == keys[1]
    assert stored(keys[0]) == stored(keys[1])
    results = [ENDED, dict.fromkeys(ENDED) | {"status": "unknown", "error": "timeout"}]
    results[1] |= dict.fromkeys(("error_text", "body", "response_model", "request_id"), "")
    results[1] |= {"usage": "", "cost": Decimal(0), "during_outage": False}
    for attempts in (by_orm, by_sql):
        for attempt, result in zip(attempts, results, strict=True):
            for name, value in result.items():
                setattr(attempt, name, value)
    for attempt in by_orm:
        attempt.save()
    update_results(by_sql)
    assert stored(keys[0]) == stored(keys[1])


def test_every_column_of_an_attempt_is_written() -> None:
    """Before or after the call; and what a new call says is in the first statement."""
    columns = {one.attname for one in Attempt._meta.concrete_fields} - {"id"}
    assert set(SENT) | set(RESULT) == columns
    assert {one.name for one in fields(Call)} - {
        "messages",
        "most",
        "rubric",
        "marking_notes",
    } <= set(SENT)
