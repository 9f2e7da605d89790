"""The SQL of a save at the desk, where building the same query in the ORM takes 1 to 9 ms.

``tests/evaluations/marking/desk/test_desk_sql.py`` holds each statement equal to the ORM. Both
databases run the same text; PostgreSQL also locks rows, where SQLite has one writer at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection, models

from evaluations.marking.rules.seed_answers import LEAST_GAP
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound, Response, Slot
from questions.models import Question, QuestionRevision, Rubric

# So many of a teacher's last marks are looked through for the first response of a check.
LAST_VERSIONS = 60
# Behind all places in a queue.
NO_PLACE = 2**31 - 1

# What the teacher holds at the desk, not on a sheet that has not ended (``queue.free_for``).
_HELD = """slot.holder_id = %(teacher)s AND (slot.lease_until IS NULL OR slot.lease_until NOT IN (
    SELECT held_until FROM evaluations_markingsheet
    WHERE teacher_id = %(teacher)s AND held_until > %(now)s))"""
# Whether another has a slot at hand or has marked it.
_TAKEN = """COALESCE({slot}.holder_id <> %(teacher)s
    AND ({slot}.marked OR {slot}.lease_until > %(now)s), FALSE)"""
# Whether it was passed by who took another slot then (``queue.passed``).
_PASSED = """COALESCE(slot.passed_at <= %(now)s
    AND (slot.passed_by_id IS NULL OR EXISTS (SELECT 1 FROM evaluations_slot AS went
        WHERE went.id = slot.passed_with_id AND went.holder_id = slot.passed_by_id
        AND (went.marked OR went.lease_until > %(now)s))), FALSE)"""
_PLANNED = f"""slot.planned_id = %(teacher)s AND NOT {_PASSED} AND (
    slot.holder_id IS NULL OR (slot.holder_id <> %(teacher)s AND slot.lease_until <= %(now)s))"""
# The first of such slots, on responses where the teacher has no other role.
_FIRST = """(SELECT slot.id FROM evaluations_slot AS slot
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    WHERE {which} AND NOT slot.marked AND slot.kind <> 'arbitration'
    AND answer.round_id = %(round)s AND answer.id <> %(but)s
    AND NOT EXISTS (SELECT 1 FROM evaluations_slot AS other
        WHERE other.answer_id = slot.answer_id AND other.id <> slot.id
        AND (other.holder_id = %(teacher)s OR other.entered_by_id = %(teacher)s
            OR (other.void_version > 0 AND EXISTS (
            SELECT 1 FROM evaluations_mark AS mark
            WHERE mark.slot_id = other.id AND mark.teacher_id = %(teacher)s))))
    AND NOT EXISTS (SELECT 1 FROM evaluations_mark AS mark
        JOIN evaluations_slot AS entered ON entered.id = mark.slot_id
        WHERE mark.entered_by_id = %(teacher)s AND entered.answer_id = slot.answer_id
        AND entered.id <> slot.id)
    ORDER BY {order} LIMIT 1)"""
_CHOICES = (
    # What was not planned for the teacher has a place in the queue of somebody else, or none.
    _FIRST.format(
        which=f"{_HELD} AND NOT {_PASSED}",
        order=f"""CASE WHEN slot.planned_id = %(teacher)s THEN slot."order" ELSE {NO_PLACE} END,
        answer.public_id""",
    ),
    # By the order of an index alone, so that the first row is the last one read.
    _FIRST.format(which=f"{_PLANNED} AND slot.skipped_at IS NULL", order='slot."order"'),
    _FIRST.format(
        which=f"{_PLANNED} AND slot.skipped_at IS NOT NULL", order='slot.skipped_at, slot."order"'
    ),
)
# The response of an intra-rater check was marked by the teacher, and not among the last ones
# (``slot_order.too_soon``). In one place only: PostgreSQL plans each by itself, for 0.5 ms.
_REPEATED = f"""slot.answer_id IN (SELECT answer.id FROM evaluations_blindanswer AS answer
    JOIN evaluations_slot AS first ON first.answer_id = answer.repeat_of_id
    WHERE answer.id = slot.answer_id AND first.holder_id = %(teacher)s
    AND first.marked AND first.kind <> 'arbitration'
    AND answer.repeat_of_id NOT IN (SELECT last.answer_id FROM (
        SELECT marked.answer_id, marked.void_version, mark.version, mark.id
        FROM evaluations_mark AS mark
        JOIN evaluations_slot AS marked ON marked.id = mark.slot_id
        WHERE mark.teacher_id = %(teacher)s AND NOT mark.stale
        ORDER BY mark.id DESC LIMIT {LAST_VERSIONS}) AS last
        WHERE last.version = last.void_version + 1 ORDER BY last.id DESC LIMIT {LEAST_GAP - 1}))"""
# A check that the teacher has or had at hand comes again in any case (``queue.was_shown``).
_SHOWN = """(COALESCE(slot.holder_id = %(teacher)s, FALSE) OR slot.void_version > 0 OR EXISTS (
    SELECT 1 FROM evaluations_helpoffer AS offer
    WHERE offer.answer_id = slot.answer_id AND offer.teacher_id = %(teacher)s))"""
# Another slot has the same place: by its key, what was opened last would come last.
_SAME_PLACE = """EXISTS (SELECT 1 FROM evaluations_slot AS beside
    JOIN evaluations_blindanswer AS own ON own.id = beside.answer_id
    WHERE beside.planned_id = %(teacher)s AND beside."order" = slot."order"
    AND NOT beside.marked AND beside.id <> slot.id AND own.round_id = %(round)s)"""
# The last conditions stand on the slot's own row: PostgreSQL checks them again after a rival's
# update.
_CLAIM = f"""UPDATE evaluations_slot AS slot
    SET holder_id = %(teacher)s, lease_until = %(until)s, skipped_at = NULL,
        passed_at = NULL, passed_with_id = NULL, passed_by_id = NULL
    WHERE slot.id = COALESCE({", ".join(_CHOICES)})
    AND NOT slot.marked
    AND (slot.holder_id IS NULL OR slot.lease_until <= %(now)s OR ({_HELD}))
    AND (slot.kind IN ('first', 'second', 'third')
        OR (slot.planned_id = %(teacher)s AND (slot.kind = 'seed' OR (slot.kind = 'repeat'
            AND ({_SHOWN} OR {_REPEATED})))))
    AND (slot.holder_id = %(teacher)s OR NOT {_SAME_PLACE})
    AND EXISTS (SELECT 1 FROM evaluations_markinground AS round
        JOIN evaluations_roundteacher AS pool ON pool.round_id = round.id
        WHERE round.id = %(round)s AND round.status = 'open'
        AND pool.teacher_id = %(teacher)s AND NOT pool.paused)
    RETURNING id"""

# Whether a slot may still come to the teacher, an intra-rater check while its first response may or
# where they were shown it.
# What helpers passed is lost, as what they take.
_MAY_COME = f"""(NOT {_TAKEN.format(slot="slot")} AND NOT {_PASSED}
    AND (slot.kind <> 'repeat' OR {_SHOWN} OR EXISTS (
        SELECT 1 FROM evaluations_slot AS first WHERE first.answer_id = slot.repeat_of_id
        AND (first.holder_id = %(teacher)s
            OR (first.planned_id = %(teacher)s AND NOT {_TAKEN.format(slot="first")})))))"""
# Marked by them; left; planned for them and lost to others; left and planned for them.
_COUNTS = f"""SELECT slot.round_id,
    COUNT(*) FILTER (WHERE slot.marked AND slot.holder_id = %(teacher)s),
    COUNT(*) FILTER (WHERE NOT slot.marked AND {_MAY_COME}),
    COUNT(*) FILTER (WHERE slot.planned_id = %(teacher)s AND NOT {_MAY_COME}),
    COUNT(*) FILTER (WHERE NOT slot.marked AND slot.planned_id = %(teacher)s
        AND slot.void_version = 0 AND {_MAY_COME})
    FROM (SELECT slot.*, answer.round_id, answer.repeat_of_id
        FROM evaluations_slot AS slot
        JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
        WHERE slot.holder_id = %(teacher)s OR slot.planned_id = %(teacher)s) AS slot
    GROUP BY slot.round_id"""

Row = TypeVar("Row", bound=models.Model)


class _Part(Generic[Row]):
    """The columns of one table in a statement, and the row of its model that is made of them."""

    def __init__(self, model: type[Row], alias: str, *names: str) -> None:
        """All columns, or only those of *names*; the ORM reads another where it is asked for."""
        own = [field for field in model._meta.get_fields() if isinstance(field, models.Field)]
        fields = [field for field in own if field.concrete and not field.many_to_many]
        if names:
            fields = [field for field in fields if field.attname in names]
        self.model, self.names = model, [field.attname for field in fields]
        self.columns = ", ".join(f'{alias}."{field.column}"' for field in fields)
        self.readers = [_reader(field) for field in fields]

    def made(self, values: Iterator[Any]) -> Row | None:
        """Take the next *values* of a row; None where an outer join found none."""
        given = [next(values) for _ in self.names]
        if given[0] is None:
            return None
        read = [
            one if one is None else to(one) for to, one in zip(self.readers, given, strict=True)
        ]
        row: Row = self.model.from_db(connection.alias, self.names, read)
        return row


def _reader(field: models.Field[Any, Any]) -> Callable[[Any], Any]:
    """How a value of *field* is read as a queryset reads it."""
    if isinstance(field, models.DecimalField):
        places = field.decimal_places
        return lambda value: value if isinstance(value, Decimal) else Decimal(f"{value:.{places}f}")
    if isinstance(field, models.UUIDField):
        return lambda value: value if isinstance(value, UUID) else UUID(value)
    if isinstance(field, models.JSONField):
        return json.loads
    if isinstance(field, models.DateTimeField):
        return lambda value: _read(value)
    return bool if isinstance(field, models.BooleanField) else lambda value: value


Parts = dict[str, _Part[Any]]
_SLOT, _MARK, _ANSWER = _Part(Slot, "slot"), _Part(Mark, "mark"), _Part(BlindAnswer, "answer")
_ROUND, _DRAFT = _Part(MarkingRound, "round"), _Part(Draft, "draft")
_RUBRIC = _Part(Rubric, "rubric", "id", "created_at")
_NAMED = _Part(BlindAnswer, "answer", "id", "public_id", "rubric_id")
_QUESTION = _Part(Question, "question", "id", "subject", "year", "paper")
_RESPONSE = _Part(Response, "response", "id", "text")
_REVISION = _Part(
    QuestionRevision, "revision", "id", "question_type", "language", "passage", "stem", "options",
    "letters", "reference_answer", "analysis", "images",
)  # fmt: skip

_TO_SAVE_PARTS: Parts = {"slot": _SLOT, "answer": _NAMED, "rubric": _RUBRIC}
_TO_SAVE = f"""SELECT {_SLOT.columns}, {_NAMED.columns}, {_RUBRIC.columns}
    FROM evaluations_slot AS slot
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    LEFT JOIN questions_rubric AS rubric ON rubric.id = answer.rubric_id
    WHERE slot.holder_id = %(teacher)s AND answer.public_id = %(answer)s
    AND EXISTS (SELECT 1 FROM evaluations_roundteacher AS pool
        WHERE pool.round_id = answer.round_id AND pool.teacher_id = %(teacher)s
        AND pool.left_at IS NULL)"""

_LOCKED_PARTS: Parts = {"slot": _SLOT, "answer": _ANSWER, "round": _ROUND}
_LOCKED = f"""SELECT {_SLOT.columns}, {_ANSWER.columns}, {_ROUND.columns}
    FROM evaluations_slot AS slot
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    JOIN evaluations_markinground AS round ON round.id = answer.round_id
    WHERE slot.id = %(slot)s AND slot.holder_id = %(teacher)s"""
_LOCK = " FOR UPDATE OF answer, slot"

_WHOLE_PARTS: Parts = {
    "slot": _SLOT, "answer": _ANSWER, "question": _QUESTION, "revision": _REVISION,
    "response": _RESPONSE, "rubric": _RUBRIC,
}  # fmt: skip
_WHOLE = f"""SELECT {", ".join(part.columns for part in _WHOLE_PARTS.values())}
    FROM evaluations_slot AS slot
    JOIN evaluations_blindanswer AS answer ON answer.id = slot.answer_id
    JOIN questions_question AS question ON question.id = answer.question_id
    JOIN questions_questionrevision AS revision ON revision.id = answer.revision_id
    JOIN evaluations_response AS response ON response.id = answer.response_id
    LEFT JOIN questions_rubric AS rubric ON rubric.id = answer.rubric_id
    WHERE slot.id = %(slot)s"""

_STANDING = f"""SELECT (SELECT id FROM evaluations_mark WHERE key = %(key)s),
    {_SLOT.columns}, {_MARK.columns}
    FROM evaluations_slot AS slot LEFT JOIN evaluations_mark AS mark ON mark.slot_id = slot.id
    WHERE slot.answer_id = %(answer)s ORDER BY mark.version, slot.id"""

_DONE = """UPDATE evaluations_slot SET marked = TRUE, lease_until = NULL,
    passed_at = NULL, passed_with_id = NULL, passed_by_id = NULL,
    revisable_until = %(until)s, entered_by_id = %(by)s WHERE id = %(slot)s"""
_NO_DRAFT = """DELETE FROM evaluations_draft
    WHERE slot_id = %(slot)s AND teacher_id = %(teacher)s AND sequence <= %(up_to)s"""
_DRAFTED = f"""SELECT {_DRAFT.columns} FROM evaluations_draft AS draft
    WHERE draft.slot_id = %(slot)s AND draft.teacher_id = %(teacher)s"""

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
    the next one has its place with another, or is an intra-rater check that comes too soon: then
    the queue decides. *but* is a blind answer that is passed over.
    Raises IntegrityError where a rival request of the same teacher took another role on the
    response.
    """
    given = {"teacher": teacher, "round": marking_round, "but": but}
    rows = _rows(_CLAIM, given | {"until": _stored(until), "now": _stored(now)})
    return int(rows[0][0]) if rows else None


def own_counts(teacher: int, now: datetime) -> dict[int, tuple[int, int]]:
    """By round, how many slots the teacher marked, and how many are planned for or held by them.

    An intra-rater check counts while its first response may still come to the teacher, and where
    they were shown it. What others took of what was planned for the teacher counts as left as long
    as something planned is: they do so when they have marked all of their own, which a smaller
    number would tell. All rounds are read at once: asked for one, the database would read the whole
    round.
    """
    rows = _rows(_COUNTS, {"teacher": teacher, "now": _stored(now)})
    return {key: (done, left + (lost if own else 0)) for key, done, left, lost, own in rows}


def recent_marks(teacher: int, marking_round: int, most: int) -> list[tuple[int | None, datetime]]:
    """Return the seconds and times of the last marks of *teacher* that count, newest first."""
    given = {"teacher": teacher, "round": marking_round, "most": most}
    return [(seconds, _read(time)) for seconds, time in _rows(_RECENT, given)]


def slot_to_save(teacher: int, answer: UUID) -> Slot | None:
    """The slot that *teacher* holds on the response called *answer*, with its rubric."""
    with connection.cursor() as cursor:
        cursor.execute(_TO_SAVE, {"teacher": teacher, "answer": _stored(answer)})
        row = cursor.fetchone()
    return _slot(_TO_SAVE_PARTS, row) if row else None


def locked_slot(slot: int, teacher: int) -> Slot | None:
    """The slot, if *teacher* holds it now, with its response and round.

    Response and slot are locked, in this order, until the transaction ends.
    """
    with connection.cursor() as cursor:
        lock = _LOCK if connection.vendor == "postgresql" else ""
        cursor.execute(_LOCKED + lock, {"slot": slot, "teacher": teacher})
        row = cursor.fetchone()
    return _slot(_LOCKED_PARTS, row) if row else None


def whole_slot(key: int) -> Slot:
    """The slot with all of its response that the desk shows."""
    with connection.cursor() as cursor:
        cursor.execute(_WHOLE, {"slot": key})
        return _slot(_WHOLE_PARTS, cursor.fetchone())


@dataclass(frozen=True, slots=True)
class Standing:
    """All slots of a response, their marks by version, and the mark that has the key, if any."""

    slots: list[Slot]
    marks: list[Mark]
    with_key: int | None


def standing(answer: BlindAnswer, key: UUID) -> Standing:
    """What stands on a response, and whose the *key* of a save is."""
    slots: dict[int, Slot] = {}
    marks = []
    rows = _rows(_STANDING, {"answer": answer.pk, "key": _stored(key)})
    for _with_key, *row in rows:
        values = iter(row)
        made: Any = _SLOT.made(values)
        slot = slots.setdefault(made.pk, made)
        slot.answer = answer
        if mark := _MARK.made(values):
            mark.slot = slot
            marks.append(mark)
    return Standing(list(slots.values()), marks, rows[0][0] if rows else None)


def mark_done(slot: Slot, teacher: int, until: datetime | None, entered_by: int | None) -> None:
    """Note that *slot* is marked and can be revised *until* then."""
    given = {"slot": slot.pk, "until": until and _stored(until), "by": entered_by}
    with connection.cursor() as cursor:
        cursor.execute(_DONE, given)


def drop_draft(slot: int, teacher: int, up_to: int) -> bool:
    """Delete the draft of *teacher* for *slot*, unless it is newer; whether that was done."""
    with connection.cursor() as cursor:
        cursor.execute(_NO_DRAFT, {"slot": slot, "teacher": teacher, "up_to": up_to})
        return bool(cursor.rowcount)


def own_draft(slot: int, teacher: int) -> Draft | None:
    """The draft of *teacher* for *slot*."""
    rows = _rows(_DRAFTED, {"slot": slot, "teacher": teacher})
    return _DRAFT.made(iter(rows[0])) if rows else None


def _rows(statement: str, given: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, given)
        return list(cursor.fetchall())


def _slot(parts: Parts, row: Sequence[Any]) -> Slot:
    """The slot in a *row* of *parts*, with its response, and on that what else was read."""
    values = iter(row)
    made: dict[str, Any] = {name: part.made(values) for name, part in parts.items()}
    slot: Slot = made.pop("slot")
    slot.answer = made.pop("answer")
    for name, one in made.items():
        setattr(slot.answer, name, one)
    return slot


def _read(time: datetime) -> datetime:
    """Return a time as a queryset does: SQLite gives it in UTC without saying so."""
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _stored(value: datetime | UUID) -> datetime | UUID | str:
    """A value as the database compares it: SQLite has text, of times in UTC."""
    if connection.vendor != "sqlite":
        return value
    return value.hex if isinstance(value, UUID) else str(value.astimezone(UTC).replace(tzinfo=None))
