"""Queries of the busiest ways, built and compiled once a process, then only executed.

Django builds and compiles a query anew each time it is asked, which costs many
times what the database needs to answer it: of a save at the desk that was more
than half. A prepared query is written as any other queryset, in a function of
its values, and called in the same way::

    @prepared
    def _held(slot: int, teacher: int) -> QuerySet[Slot, Slot]:
        return Slot.objects.filter(pk=slot, holder=teacher)

    _held(slot.pk, teacher.pk)  # a list of slots

The function is called once, with values that stand for what is given later. So
its query must not depend on what the values are, and none of them may be None.
PostgreSQL plans such a query once a connection too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, ParamSpec, TypeVar
from uuid import UUID

from django.db import connection, models, transaction
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    ValuesListIterable,
    get_related_populators,
)
from django.db.models.sql import InsertQuery, UpdateQuery
from psycopg import Cursor

Given = ParamSpec("Given")
Row = TypeVar("Row")
Stored = TypeVar("Stored", bound=models.Model)
Rows = Sequence[tuple[Any, ...]]


class Prepared(Generic[Given, Row]):
    """A queryset that is compiled once; a call returns its rows in a list."""

    def __init__(self, build: Callable[Given, models.QuerySet[Any, Row]]) -> None:
        self._build: Callable[..., models.QuerySet[Any, Row]] = build
        self._compiled: tuple[Statement, Callable[[Rows], list[Row]]] | None = None

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> list[Row]:
        """Ask with *given*, in the order of the function's arguments."""
        _refuse(named)
        if self._compiled is None:
            queryset = self._build(*stand_ins(given))
            compiler = queryset.query.get_compiler(connection=connection)
            statement = Statement(compiler, given)
            self._compiled = (statement, _reader(queryset, compiler))
        statement, read = self._compiled
        return read(execute(statement.sql, statement.with_values(given)))


class PreparedUpdate(Generic[Given]):
    """An UPDATE that is compiled once; a call returns how many rows it changed.

    The function returns the queryset and the values that its rows get.
    """

    def __init__(
        self, build: Callable[Given, tuple[models.QuerySet[Any, Any], dict[str, Any]]]
    ) -> None:
        self._build: Callable[..., tuple[models.QuerySet[Any, Any], dict[str, Any]]] = build
        self._compiled: Statement | None = None

    def __call__(self, *given: Given.args, **named: Given.kwargs) -> int:
        """Update with *given*, in the order of the function's arguments."""
        _refuse(named)
        if self._compiled is None:
            queryset, values = self._build(*stand_ins(given))
            query: Any = queryset.query.chain(UpdateQuery)
            query.add_update_values(values)
            self._compiled = Statement(query.get_compiler(connection=connection), given)
        return change(self._compiled.sql, self._compiled.with_values(given))


class PreparedInsert(Generic[Stored]):
    """An INSERT of one new row of a model. It sends no signals: nothing here listens to any."""

    def __init__(self, model: type[Stored]) -> None:
        self._model = model
        self._fields = [f for f in model._meta.local_concrete_fields if not f.primary_key]
        self._sql = ""

    def __call__(self, row: Stored) -> Stored:
        """Store *row*, which has no key yet, and give it one."""
        if not self._sql:
            self._sql = self._compiled(row)
        values = [f.get_db_prep_save(f.pre_save(row, True), connection) for f in self._fields]
        with transaction.mark_for_rollback_on_error("default"):
            ((row.pk,),) = execute(self._sql, values)
        row._state.adding, row._state.db = False, "default"
        return row

    def _compiled(self, row: Stored) -> str:
        query = InsertQuery(self._model)
        query.insert_values(self._fields, [row])
        compiler = query.get_compiler(connection=connection)
        compiler.returning_fields = [self._model._meta.pk]
        ((sql, _values),) = compiler.as_sql()
        return str(sql)


prepared = Prepared
prepared_update = PreparedUpdate
prepared_insert = PreparedInsert


def execute(sql: str, values: Sequence[Any]) -> Rows:
    """The rows that a statement returns."""
    with _executed(sql, values) as cursor:
        return list(cursor.fetchall())


def change(sql: str, values: Sequence[Any]) -> int:
    """How many rows a statement changed."""
    with transaction.mark_for_rollback_on_error("default"), _executed(sql, values) as cursor:
        return int(cursor.rowcount)


@contextmanager
def _executed(sql: str, values: Sequence[Any]) -> Iterator[Any]:
    """The cursor after the statement; on PostgreSQL one that it plans but once a connection.

    Where queries are watched (in tests, with DEBUG) it is the cursor that is watched.
    """
    if connection.vendor != "postgresql" or connection.queries_logged:
        with connection.cursor() as cursor:
            cursor.execute(sql, values)
            yield cursor
        return
    connection.validate_no_broken_transaction()
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors, Cursor(connection.connection) as cursor:
        cursor.execute(sql, values, prepare=True)
        yield cursor


def stand_ins(given: Sequence[Any]) -> list[Any]:
    """A value of the same type for each of *given* that stands nowhere else in a query."""
    return [_stand_in(type(value), place) for place, value in enumerate(given)]


def _stand_in(kind: type, place: int) -> Any:
    number = 7_203_847_561_902_000 + place
    if kind is int:
        return number
    if kind is str:
        return f"stands for {number}"
    if issubclass(kind, UUID):
        return UUID(int=number)
    if issubclass(kind, datetime):
        return datetime(1905, 1, 1, microsecond=place, tzinfo=UTC)
    raise TypeError(f"a prepared query takes no {kind.__name__}")


def _refuse(named: object) -> None:
    if named:
        raise TypeError("a prepared query takes its values by place")


class Statement:
    """The SQL of a compiled query, and where in its parameters each value goes."""

    def __init__(self, compiler: Any, given: Sequence[Any]) -> None:
        self.sql, values = compiler.as_sql()
        self._values = list(values)
        self._places: list[tuple[int, int, Callable[[Any], Any]]] = []
        for number, stand_in in enumerate(stand_ins(given)):
            stored = _as_stored(stand_in)
            found = [at for at, value in enumerate(values) if _same(value, stored)]
            if not found:
                raise ValueError(f"value {number} of a prepared query is nowhere in it")
            for at in found:
                # A driver may ask for integers of a kind: psycopg tells Int4 from Int8.
                as_here = type(values[at]) if isinstance(stored, int) else _as_stored
                self._places.append((at, number, as_here))

    def with_values(self, given: Sequence[Any]) -> list[Any]:
        """The parameters after *given* took their places."""
        values = self._values.copy()
        for at, number, as_here in self._places:
            values[at] = as_here(given[number])
        return values


def _as_stored(value: Any) -> Any:
    """*value* as the database's fields hand it over."""
    if isinstance(value, UUID):
        return value if connection.features.has_native_uuid_field else value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return value


def _same(value: object, stored: object) -> bool:
    """Equal and of one kind: 1 is not True, and no number equals a text."""
    return isinstance(value, type(stored)) and value == stored


def _reader(queryset: models.QuerySet[Any, Any], compiler: Any) -> Callable[[Rows], list[Any]]:
    """What makes of rows of the database what *queryset* would make of them."""
    selected = [column for column, *_ in compiler.select[: compiler.col_count]]
    converted = partial(_converted, list(compiler.get_converters(selected).items()))
    kind = queryset._iterable_class
    if kind is ModelIterable:
        return _models(compiler, converted)
    if kind is FlatValuesListIterable:
        return lambda rows: [row[0] for row in converted(rows)]
    if kind is ValuesListIterable:
        return lambda rows: [tuple(row) for row in converted(rows)]
    raise TypeError("a prepared query yields models or a values_list")


def _converted(converters: Sequence[Any], rows: Rows) -> Iterable[Sequence[Any]]:
    """Rows in which each value is as its field has it in Python."""
    for found in rows:
        row = list(found)
        for place, (steps, expression) in converters:
            value = row[place]
            for step in steps:
                value = step(value, expression, connection)
            row[place] = value
        yield row


def _models(
    compiler: Any, converted: Callable[[Rows], Iterable[Sequence[Any]]]
) -> Callable[[Rows], list[Any]]:
    """Model instances with all that ``select_related`` and annotations add to them."""
    info = compiler.klass_info
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    names = [column[0].target.attname for column in compiler.select[start:end]]
    populators: Any = get_related_populators  # its stub is of a later Django
    related = populators(info, compiler.select, "default")
    annotations = list((compiler.annotation_col_map or {}).items())

    def read(rows: Rows) -> list[Any]:
        found = []
        for row in converted(rows):
            made = info["model"].from_db("default", names, row[start:end])
            for populator in related:
                populator.populate(row, made)
            for name, place in annotations:
                setattr(made, name, row[place])
            found.append(made)
        return found

    return read
