"""Keep a round as it is while something is stored in it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection

# Django has no shared lock: with its exclusive ones all saves of a round would wait for each other.
_HOLD = """SELECT id FROM evaluations_markinground WHERE id IN
    (SELECT round_id FROM evaluations_blindanswer WHERE id = ANY(%s)) ORDER BY id FOR SHARE"""


def hold_rounds(answers: Iterable[int]) -> None:
    """Keep the rounds of blind *answers* from being paused, closed or changed in any other way.

    Until the transaction ends; any number of transactions may hold a round at once. Called before
    answers and slots are locked, as who closes a round locks it first. What is read after it is the
    round as it stays. SQLite needs nothing: one transaction writes at a time.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(_HOLD, [list(answers)])
