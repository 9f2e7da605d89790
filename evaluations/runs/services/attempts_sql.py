"""The two statements about attempts that every call needs: one before it is sent, one after it.

What the ORM would write is written by SQL; ``tests/evaluations/runs/test_attempts_sql.py`` holds
the rows equal.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import Max

from evaluations.models import Attempt
from gradeapp.common.bulk_sql import insert_rows, update_rows

TABLE = "evaluations_attempt"
SENT = {
    "job_id": "bigint",
    "number": "integer",
    "fence": "integer",
    "status": "text",
    "request_hash": "text",
    "params": "jsonb",
    "rubric_id": "bigint",
    "marking_notes_id": "bigint",
    "images": "jsonb",
    "images_omitted": "integer",
    "option_order": "text",
    "examples_used": "integer",
    "prompt_bytes": "integer",
    "sent_at": "timestamptz",
    "reserved": "numeric",
    # What no call has before it is answered.
    "cost": "numeric",
    "error": "text",
    "error_text": "text",
    "body": "text",
    "response_model": "text",
    "request_id": "text",
}
RESULT = {
    "status": "text",
    "error": "text",
    "error_text": "text",
    "http_status": "integer",
    "prompt_tokens": "bigint",
    "completion_tokens": "bigint",
    "cost": "numeric",
    "response_model": "text",
    "request_id": "text",
    "body": "text",
    "finished_at": "timestamptz",
    "seconds": "double precision",
    "during_outage": "boolean",
    "cached_tokens": "bigint",
    "reasoning_tokens": "bigint",
    "audio_tokens": "bigint",
    "total_tokens": "bigint",
    "usage": "text",
    "reported_cost": "numeric",
    "ending": "text",
    "choices": "integer",
    "other_model": "boolean",
}


def insert_sent(attempts: Sequence[Attempt]) -> None:
    """Store new *attempts*, each of another job, and set their keys."""
    insert_rows(TABLE, SENT, [[getattr(one, name) for name in SENT] for one in attempts])
    stored = Attempt.objects.filter(job__in=[one.job_id for one in attempts]).order_by()
    keys = dict(stored.values_list("job").annotate(newest=Max("pk")))
    for one in attempts:
        one.pk = keys[one.job_id]


def update_results(attempts: Sequence[Attempt]) -> None:
    """Store how the calls of *attempts*, which are stored as sent, ended."""
    rows = [[*(getattr(one, name) for name in RESULT), one.pk] for one in attempts]
    update_rows(TABLE, RESULT, rows)
