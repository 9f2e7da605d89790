"""Every way to change or delete a mark leaves a row behind, written by the database itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.urls import reverse

from evaluations.marking.arbitration.selectors.history import changes_of
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import FinalMark, FinalMarkSource, Mark, MarkChange, PointMark
from gradeapp.accounts.models import User
from tests.audit.replacing import by_insert, unique_keys
from tests.audit.replacing import by_update as by_replacing_update
from tests.conftest import logged_in
from tests.evaluations.marking_world import answers_of, give, later, planned_pair, small_round

pytestmark = pytest.mark.django_db
Way = Callable[[type[models.Model], models.Model, str], object]


def by_save(model: type[models.Model], row: models.Model, column: str) -> None:
    setattr(row, column, Decimal(2))
    row.save()


def by_update(model: type[models.Model], row: models.Model, column: str) -> None:
    model._default_manager.filter(pk=row.pk).update(**{column: Decimal(2)})


def by_bulk_update(model: type[models.Model], row: models.Model, column: str) -> None:
    setattr(row, column, Decimal(2))
    model._default_manager.bulk_update([row], [column])


def by_sql(model: type[models.Model], row: models.Model, column: str) -> None:
    with connection.cursor() as cursor:
        table = model._meta.db_table
        cursor.execute(f'UPDATE {table} SET "{column}" = 2 WHERE id = %s', [row.pk])


def by_delete(model: type[models.Model], row: models.Model, column: str) -> None:
    if model is Mark:  # its points go first, as the database demands
        PointMark.objects.filter(mark=row.pk).delete()
    row.delete()


WAYS: list[Way] = [by_save, by_update, by_bulk_update, by_sql, by_delete]


def changes(model: type[models.Model], row: models.Model) -> list[MarkChange]:
    """What the history knows of *row*, oldest first."""
    found = MarkChange.objects.filter(table=model._meta.db_table, row=row.pk)
    return list(found.order_by("id"))


@pytest.mark.parametrize(
    ("model", "column"), [(Mark, "total"), (PointMark, "points"), (FinalMark, "value")]
)
def test_five_ways_to_change_a_mark_are_five_rows(
    model: type[models.Model], column: str, teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    mark = give(answer, teacher, ["3", "3", "6"])
    rows = {Mark: mark, PointMark: mark.points.all()[0]}
    final = FinalMark(answer=answer, value=Decimal(9), full=Decimal(12), rule="single mark")
    if model is FinalMark:
        final.save()
    row = rows.get(model, final)
    given = Decimal(getattr(row, column))
    before = len(changes(model, row))
    for way in WAYS:
        key = row.pk
        way(model, row, column)
        row.pk = key
    kept = changes(model, row)[before:]
    assert [one.action for one in kept] == ["update"] * 4 + ["delete"]
    assert {(one.answer, one.actor) for one in kept} == {(answer.pk, "unknown")}
    values = [Decimal(str(json.loads(one.before)[column])) for one in kept]
    assert values == [given, 2, 2, 2, 2]


def test_a_mark_that_is_saved_and_revised_leaves_no_change(
    teacher: User, other_teacher: User
) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher], window_minutes=15))
    before = MarkChange.objects.count()
    give(answer, teacher, ["3", "3", "6"])
    give(answer, teacher, ["3", "3", "5"], based_on_version=1)
    give(answer, other_teacher, ["3", "3", "5"])
    finalize_due(answer.round, now=later(60))
    assert FinalMark.objects.counting().filter(answer=answer).exists()
    assert MarkChange.objects.count() == before


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no settings of a session")
def test_a_session_may_say_who_it_is(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    mark = give(answer, teacher, ["3", "3", "6"])
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('gradeapp.actor', 'the operator', true)")
    Mark.objects.filter(pk=mark.pk).update(total=Decimal(1))
    assert changes(Mark, mark)[-1].actor == "the operator"


def test_the_history_of_a_response_reads_as_what_changed(
    teacher: User, other_teacher: User
) -> None:
    answer, other = answers_of(small_round([teacher, other_teacher], 2))
    mark = give(answer, teacher, ["3", "3", "6"], comment="all of it")
    kept = give(other, teacher, ["1", "1", "1"])
    Mark.objects.filter(pk=mark.pk).update(total=Decimal("11.5"), comment="")
    Mark.objects.filter(pk=kept.pk).update(total=Decimal(2))
    change = changes_of(answer)[0]
    assert (change.what, change.row, change.action) == ("mark", mark.pk, "update")
    assert (change.value, change.actor) == (Decimal(12), "unknown")
    assert len(changes_of(answer)) == 1


def test_the_lead_sees_what_was_changed_beside_the_marks(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher])
    (answer,) = answers_of(made)
    mark = give(answer, teacher, ["3", "3", "6"])
    address = reverse("rounds:response", args=[made.public_id, answer.public_id])
    assert "Changes outside the marking desk" not in logged_in(lead).get(address).text
    Mark.objects.filter(pk=mark.pk).update(total=Decimal(1))
    page = logged_in(lead).get(address).text
    assert f"Mark {mark.pk} was changed (previous value: 12)." in page
    assert "by an unknown user" in page


@pytest.mark.parametrize("model", [Mark, PointMark, FinalMark, FinalMarkSource])
def test_no_mark_is_replaced_or_truncated(
    model: type[models.Model], teacher: User, other_teacher: User
) -> None:
    """Such rows would go without a trigger of a DELETE, and so without a row of the history."""
    made = small_round([teacher, other_teacher], 2)
    for answer in answers_of(made):
        for person in (teacher, other_teacher):
            give(answer, person, ["3", "3", "6"])
    finalize_due(made, now=later(60))
    table = model._meta.db_table
    if connection.vendor == "postgresql":
        ways = [f"SET CONSTRAINTS ALL IMMEDIATE; TRUNCATE {table} CASCADE"]
    else:
        ways = [by_insert(table, key) for key in unique_keys(table)]
        ways += [by_replacing_update(table, key) for key in unique_keys(table)]
        ways.append(by_replacing_update(table, ("id",), rowid=True))
        assert len(ways) >= 5
    rows = sorted(model._default_manager.values_list())
    assert len(rows) > 1
    for way in ways:
        with (
            pytest.raises(IntegrityError, match=r"are kept: (REPLACE|TRUNCATE) refused"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(way)
    assert sorted(model._default_manager.values_list()) == rows


def test_a_temporary_table_takes_no_history_away(teacher: User, other_teacher: User) -> None:
    """It has the name of the history, and stood before it."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite looks for the tables of a trigger beside it")
    made = small_round([teacher, other_teacher], 1)
    (answer,) = answers_of(made)
    mark = give(answer, planned_pair(answer)[0], ["1", "1", "1"])
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMP TABLE evaluations_markchange"
            " (LIKE public.evaluations_markchange INCLUDING ALL) ON COMMIT DROP"
        )
        cursor.execute("UPDATE evaluations_mark SET total = 2 WHERE id = %s", [mark.pk])
        cursor.execute("SELECT count(*) FROM public.evaluations_markchange")
        assert cursor.fetchone()[0] == 1
