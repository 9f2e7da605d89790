"""The SQL of a save at the desk, where building the same query in the ORM takes 1 to 9 ms.

``tests/evaluations/marking/desk/test_desk_sql.py`` holds each statement equal to the ORM. Both
databases run the same text.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import connection

# What the teacher holds at the desk, not on a sheet that has not ended (``queue.free_for``).
_HELD = """slot.holder_id = %(teacher)s AND (slot.lease_until IS NULL OR slot.lease_until NOT IN (
    SELECT held_until FROM evaluations_markingsheet
    WHERE teacher_id = %(teacher)s AND held_until > %(now)s))"""
_PLANNED = """slot.planned_id = %(teacher)s AND (slot.holder_id IS NULL
    OR (slot.holder_id <> %(teacher)s AND slot.lease_until <= %(now)s))"""

# The first of such slots, on responses where the teacher has no other role.
_FIRST = """(SELECT slot.id FROM evaluations_slot AS slot
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    WHERE {which} AND NOT slot.marked AND slot.kind <> 'arbitration'
    AND answer.round_id = %(round)s AND answer.id <> %(but)s
    AND NOT EXISTS (SELECT 1 FROM evaluations_slot AS other
        WHERE other.answer_id = slot.answer_id AND other.id <> slot.id
        AND (other.holder_id = %(teacher)s OR (other.void_version > 0 AND EXISTS (
            SELECT 1 FROM evaluations_mark AS mark
            WHERE mark.slot_id = other.id AND mark.teacher_id = %(teacher)s))))
    ORDER BY {order} LIMIT 1)"""
_CHOICES = (
    _FIRST.format(which=_HELD, order='slot."order", slot.id'),
    # By the order of an index alone, so that the first row is the last one read.
    _FIRST.format(which=f"{_PLANNED} AND slot.skipped_at IS NULL", order='slot."order"'),
    _FIRST.format(
        which=f"{_PLANNED} AND slot.skipped_at IS NOT NULL", order='slot.skipped_at, slot."order"'
    ),
)
# The last conditions stand on the slot's own row: PostgreSQL checks them again after a rival's
# update. A slot of an intra-rater check or of a returned mark has conditions of its own.
_CLAIM = f"""UPDATE evaluations_slot AS slot
    SET holder_id = %(teacher)s, lease_until = %(until)s, skipped_at = NULL
    WHERE slot.id = COALESCE({", ".join(_CHOICES)})
    AND NOT slot.marked AND slot.void_version = 0
    AND (slot.holder_id IS NULL OR slot.lease_until <= %(now)s OR ({_HELD}))
    AND (slot.kind IN ('first', 'second', 'third')
        OR (slot.kind = 'seed' AND slot.planned_id = %(teacher)s))
    AND EXISTS (SELECT 1 FROM evaluations_markinground AS round
        JOIN evaluations_roundteacher AS pool ON pool.round_id = round.id
        WHERE round.id = %(round)s AND round.status = 'open'
        AND pool.teacher_id = %(teacher)s AND NOT pool.paused)
    RETURNING id"""

_COUNTS = """SELECT answer.round_id,
    COUNT(*) FILTER (WHERE slot.marked AND slot.holder_id = %(teacher)s),
    COUNT(*) FILTER (WHERE NOT slot.marked AND (slot.kind <> 'repeat' OR EXISTS (
        SELECT 1 FROM evaluations_slot AS first WHERE first.answer_id = answer.repeat_of_id
        AND (first.holder_id = %(teacher)s
            OR (first.planned_id = %(teacher)s AND NOT first.marked)))))
    FROM evaluations_slot AS slot
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    WHERE slot.holder_id = %(teacher)s OR slot.planned_id = %(teacher)s
    GROUP BY answer.round_id"""

_RECENT = """SELECT mark.seconds, mark.created_at FROM evaluations_mark AS mark
    JOIN evaluations_slot AS slot ON slot.id = mark.slot_id
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    WHERE mark.teacher_id = %(teacher)s AND answer.round_id = %(round)s
    AND NOT mark.stale AND mark.version > slot.void_version
    ORDER BY mark.id DESC LIMIT %(most)s"""


def claim_own(
    teacher: int, marking_round: int, *, but: int = 0, until: datetime, now: datetime
) -> int | None:
    """Claim the next slot that the teacher holds or is planned for; return its key.

    One conditional UPDATE. None where there is none, where a rival took it meanwhile, and where
    the next one is of an intra-rater check or of a returned mark: then the queue decides. *but*
    is a blind answer that is passed over. Raises IntegrityError where a rival request of the
    same teacher took another role on the response.
    """
    given = {"teacher": teacher, "round": marking_round, "but": but}
    rows = _rows(_CLAIM, given | {"until": _stored(until), "now": _stored(now)})
    return int(rows[0][0]) if rows else None


def own_counts(teacher: int) -> dict[int, tuple[int, int]]:
    """By round, how many slots the teacher marked, and how many are planned for or held by them.

    An intra-rater check counts while its first response may still come to the teacher. All
    rounds are read at once: asked for one, the database would read the whole round.
    """
    return {key: (done, left) for key, done, left in _rows(_COUNTS, {"teacher": teacher})}


def recent_marks(teacher: int, marking_round: int, most: int) -> list[tuple[int | None, datetime]]:
    """Return the seconds and times of the last marks of *teacher* that count, newest first."""
    given = {"teacher": teacher, "round": marking_round, "most": most}
    return [(seconds, _read(time)) for seconds, time in _rows(_RECENT, given)]


def _rows(statement: str, given: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return list(cursor.fetchall())


def _read(time: datetime) -> datetime:
    """Return a time as a queryset does: SQLite gives it in UTC without saying so."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _stored(time: datetime) -> datetime | str:
    """A time as the database compares it: SQLite has text in UTC."""
    if connection.vendor == "sqlite":
        return str(time.astimezone(UTC).replace(tzinfo=None))
    return time
