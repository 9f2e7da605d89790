"""The database itself refuses to change what the audit trail and the history of marks hold."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from evaluations.models import MarkChange
from gradeapp.accounts.models import User
from gradeapp.audit.append_only import lifted
from gradeapp.audit.hashing import GENESIS
from gradeapp.audit.models import AuditEntry, Chain, Seal, Segment
from gradeapp.audit.record import record
from gradeapp.audit.retention import remove_old
from gradeapp.audit.sealing import seal_all
from gradeapp.audit.tags import Tag
from gradeapp.audit.verifying import verify_all
from tests.audit.replacing import by_insert, unique_keys

pytestmark = pytest.mark.django_db
TABLES = ("audit_auditentry", "audit_seal", "audit_segment", "evaluations_markchange")
# The first link once more, at position %s, of the row %s.
SEAL = (
    'INSERT INTO audit_seal (chain_id, position, "row", note, hash)'
    " SELECT chain_id, %s, %s, note, hash FROM audit_seal WHERE position = %s"
)
SEGMENT = (
    'INSERT INTO audit_segment (chain_id, "first", "last", head, sealed_at, removed_at, since)'
    " SELECT chain_id, %s, %s, g.head, %s, %s, looked_at FROM audit_segment g"
    ' JOIN audit_chain c ON c.id = chain_id WHERE "last" = %s'
)
AT_ONCE = "SET CONSTRAINTS ALL IMMEDIATE"


def sql(statement: str, *values: object) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values or None)


def sealed_before(days: int) -> None:
    """Seal what is there as if it had been so many days ago; the database has no such clock."""
    with lifted(connection):
        seal_all(timezone.now() - timedelta(days=days))


def stored(at: datetime) -> str:
    """*at* as raw SQL writes it."""
    zone = "+00:00" if connection.vendor == "postgresql" else ""
    return f"{at:%Y-%m-%d %H:%M:%S}{zone}"


def changed() -> MarkChange:
    """One row of the history of marks."""
    now = timezone.now()
    return MarkChange.objects.create(
        table="evaluations_mark", row=1, action="update", before="{}", changed_at=now
    )


def test_no_row_is_changed_or_deleted(lead: User) -> None:
    record(Tag.RUN_STARTED, lead, actor=lead)
    changed()
    assert seal_all() == 2
    again = {"postgresql": [f"{AT_ONCE}; TRUNCATE {table} CASCADE" for table in TABLES]}.get(
        connection.vendor,
        [f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}" for table in TABLES],
    )
    ways = [f"UPDATE {table} SET id = id" for table in TABLES]
    ways += [f"DELETE FROM {table}" for table in TABLES]
    for way in ways + again:
        with pytest.raises(IntegrityError, match="append-only"):
            sql(way)
    through_models: list[Callable[[], object]] = [
        lambda: AuditEntry.objects.update(tag="other"),
        lambda: AuditEntry.objects.all().delete(),
        lambda: AuditEntry.objects.get().save(),
    ]
    for call in through_models:
        with pytest.raises(IntegrityError), transaction.atomic():
            call()
    assert not any(checked.broken for checked in verify_all(timezone.now()))


def test_retention_removes_whole_old_segments_and_keeps_their_hash(
    lead: User, settings: pytest.FixtureRequest
) -> None:
    now = timezone.now()
    kept = []
    for days in (100, 70, 40):
        for _ in range(3):
            record(Tag.RUN_STARTED, lead, actor=lead)
        sealed_before(days)
        kept.append(Chain.objects.get(name="audit").head)
    assert remove_old(now) == 0  # the setting keeps all
    settings.AUDIT_RETENTION_DAYS = 60  # type: ignore[attr-defined]
    assert remove_old(now) == 2
    assert Segment.objects.filter(removed_at=now).count() == 2
    assert list(Seal.objects.values_list("position", flat=True).order_by("position")) == [7, 8, 9]
    told = AuditEntry.objects.filter(tag=Tag.SEGMENTS_REMOVED).order_by("id")
    assert [entry.detail["head"] for entry in told] == kept[:2]
    assert AuditEntry.objects.count() == 3 + 2
    seal_all(now)
    audit, _marks = verify_all(now, {"audit": {3: kept[0], 6: kept[1], 9: kept[2]}})
    assert (audit.links, audit.named) == (5, [])
    audit, _marks = verify_all(now, {"audit": {3: kept[1]}})
    assert audit.named == ["audit: link 3 differs from the hash that was kept"]


def test_the_way_of_retention_leads_to_nothing_young(lead: User) -> None:
    now = timezone.now()
    for days in (100, 70, 2, 0):
        record(Tag.RUN_STARTED, lead, actor=lead)
        sealed_before(days)
    first, second, young, _last = Segment.objects.order_by("first")
    for segment in (second, young):  # not the oldest; not old enough
        with pytest.raises(IntegrityError), transaction.atomic():
            Segment.objects.filter(pk=segment.pk).update(removed_at=now)
    since = now - timedelta(days=40)  # as if it had been removed then
    for other in ({"head": "0" * 64}, {"removed_at": now, "last": 9}, {"removed_at": since}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Segment.objects.filter(pk=first.pk).update(**other)


@pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL has no REPLACE")
def test_no_row_is_replaced_by_any_of_its_keys(lead: User) -> None:
    """INSERT OR REPLACE deletes the row that it conflicts with, without a trigger of a DELETE."""
    record(Tag.RUN_STARTED, lead, actor=lead)
    changed()
    seal_all()
    found = []
    for table in (*TABLES, "audit_chain"):
        for key in unique_keys(table):
            found.append((table, *key))
            with pytest.raises(IntegrityError, match="REPLACE refused"):
                sql(by_insert(table, key))
    assert len(found) == 5 + 2 + 2 + 1  # of each its id, and the others


def test_no_seal_or_segment_is_inserted_where_the_chain_does_not_stand(lead: User) -> None:
    """A seal under a removed segment would let the entry that it names be deleted."""
    now = timezone.now()
    for days in (100, 70, 0):
        record(Tag.RUN_STARTED, lead, actor=lead)
        sealed_before(days)
    hidden = record(Tag.RUN_STOPPED, lead, actor=lead)
    chain = Chain.objects.get(name="audit")
    head, recent, old = chain.position, stored(now), stored(now - timedelta(days=40))
    assert Segment.objects.filter(first=1).update(removed_at=now) == 1
    removed = Seal.objects.get(position=1)
    AuditEntry.objects.filter(pk=removed.row).delete()
    removed.delete()
    for position in (1, head + 1, 1000):
        with pytest.raises(IntegrityError, match="append-only: INSERT refused"):
            sql(SEAL, position, hidden.pk, head)
    for first, last, since, gone in (
        (1000, 1000, recent, None),  # far from the end
        (head + 1, head + 1, recent, None),  # of no seal
        (head + 1, head + 1, old, recent),
    ):
        with pytest.raises(IntegrityError, match="append-only: INSERT refused"):
            sql(SEGMENT, first, last, since, gone, head)
    # As a sealer does it, but long ago, or as if nothing had been sealed before.
    before = transaction.savepoint()
    Chain.objects.filter(pk=chain.pk).update(position=head + 1)
    sql(SEAL, head + 1, hidden.pk, head)
    forgets = SEGMENT.replace("looked_at FROM", "NULL FROM")
    for statement, since in ((SEGMENT, old), (forgets, recent)):
        with pytest.raises(IntegrityError, match="append-only: INSERT refused"):
            sql(statement, head + 1, head + 1, since, None, head)
    transaction.savepoint_rollback(before)
    with pytest.raises(IntegrityError, match="append-only: DELETE refused"):
        sql("DELETE FROM audit_auditentry WHERE id = %s", hidden.pk)
    assert seal_all() == 1


def test_a_removed_segment_far_above_covers_nothing_below(lead: User) -> None:
    """One that was inserted before the database refused it."""
    record(Tag.RUN_STARTED, lead, actor=lead)
    seal_all()
    now = stored(timezone.now())
    with lifted(connection):
        sql(SEGMENT, 1000, 1000, now, now, 1)
        Chain.objects.filter(name="audit").update(position=2)
        sql(SEAL, 2, record(Tag.RUN_STOPPED, lead, actor=lead).pk, 1)
    for statement in (
        "DELETE FROM audit_auditentry WHERE tag = 'run.stopped'",
        "DELETE FROM audit_seal WHERE position = 2",
    ):
        with pytest.raises(IntegrityError, match="append-only: DELETE refused"):
            sql(statement)


def test_what_a_chain_says_of_signatures_is_not_changed() -> None:
    """Entries up to unsigned_until need no signature."""
    seal_all()
    for change in ("unsigned_until = 1000", "name = 'other'", "position = -1", "id = id + 1"):
        with pytest.raises(IntegrityError):
            sql(f"UPDATE audit_chain SET {change} WHERE name = 'audit'")
    for statement in (
        "DELETE FROM audit_chain WHERE name = 'audit'",
        "INSERT INTO audit_chain (name, position, head, seen, unsigned_until, verified_broken,"
        " verified_first) VALUES ('other', 0, '', 0, 1000, 0, '')",
    ):
        with pytest.raises(IntegrityError, match="append-only"):
            sql(statement)


def test_no_entry_is_inserted_among_those_without_a_signature() -> None:
    made = partial(AuditEntry.objects.create, tag=Tag.RUN_STARTED, target="run:1")
    last = made().pk
    with contextlib.suppress(ZeroDivisionError), transaction.atomic():
        made().pk / 0  # a key that PostgreSQL has handed out and nobody has
    for until, keys in ((last + 1, [-5, 0, last + 1]), (last, [])):
        with lifted(connection):
            Chain.objects.filter(name="audit").update(unsigned_until=until)
        for key in keys:
            with pytest.raises(IntegrityError, match="append-only: INSERT"), transaction.atomic():
                made(pk=key)
    made(pk=last + 1)


COPY = (
    "INSERT INTO {table} ({names}) SELECT {chosen} FROM {table}"
    " WHERE id = (SELECT MAX(id) FROM {table})"
)


def copied(table: str, **values: str) -> str:
    """A copy of the newest row of *table* with other *values*, as SQL."""
    with connection.cursor() as cursor:
        columns = connection.introspection.get_table_description(cursor, table)
    chosen = {one.name: f'"{one.name}"' for one in columns if one.name != "id"}
    chosen |= values
    names = ", ".join(f'"{name}"' for name in chosen)
    return COPY.format(table=table, names=names, chosen=", ".join(chosen.values()))


def test_no_row_is_inserted_with_another_time_or_a_far_key_or_as_a_copy(
    lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed()
    now = timezone.now()
    with monkeypatch.context() as patched:
        patched.setattr(timezone, "now", lambda: now - timedelta(minutes=30))
        record(Tag.RUN_STARTED, lead, actor=lead)
    history, trail = "evaluations_markchange", "audit_auditentry"
    times = [f"'{stored(now + timedelta(days=days))}'" for days in (-40, 400)]
    if connection.vendor == "sqlite":
        times += ["'now'", "julianday('now')"]
    refused = [copied(history, changed_at=time) for time in times]
    refused += [copied(trail, at=time, signature="''") for time in times]
    refused += [copied(history, id="9223372036854775806"), copied(trail)]
    refused += [copied(trail, id="9223372036854775806", signature="''")]
    for statement in refused:
        with pytest.raises(IntegrityError, match="append-only: INSERT refused"):
            sql(statement)
    sql(copied(history))
    sql(copied(trail, signature="''"))


def test_a_chain_does_not_forget_when_it_was_looked_at(lead: User) -> None:
    seal_all()
    now = timezone.now()
    marks = Chain.objects.filter(name="marks")
    for time in (None, now - timedelta(days=40), now + timedelta(days=1)):
        with pytest.raises(IntegrityError, match="append-only: UPDATE"), transaction.atomic():
            marks.update(looked_at=time)
    changed()
    seal_all(now + timedelta(days=300))  # the clock of this worker is wrong
    assert timezone.now() >= marks.get().looked_at >= now - timedelta(minutes=1)


def test_a_database_that_is_moved_takes_the_trail_over(
    lead: User, settings: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """docs/operations.md: dumpdata, then loaddata into a database that was only migrated."""
    settings.AUDIT_RETENTION_DAYS = 60  # type: ignore[attr-defined]
    for days in (100, 0):
        record(Tag.RUN_STARTED, lead, actor=lead)
        sealed_before(days)
    with lifted(connection):
        Chain.objects.filter(name="audit").update(unsigned_until=1)
    assert remove_old(timezone.now()) == 1
    seal_all()
    file = str(tmp_path / "audit.json")
    call_command("dumpdata", "audit", "--natural-foreign", "--output", file, verbosity=0)
    with lifted(connection):
        for model in (AuditEntry, Seal, Segment):
            model._default_manager.all().delete()
        Chain.objects.update(position=0, head=GENESIS, unsigned_until=0)
    call_command("loaddata", file, verbosity=0)
    assert Chain.objects.get(name="audit").unsigned_until == 1
    assert [checked.named for checked in verify_all(timezone.now())] == [[], []]
    assert Seal.objects.count() == 2
    with pytest.raises(IntegrityError, match="append-only"):
        call_command("loaddata", file, verbosity=0)


def test_functions_of_triggers_find_tables_in_their_own_schema() -> None:
    """A temporary table of the same name would stand before the one that they read or write."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite looks for the tables of a trigger beside it")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
            " AND prorettype = 'trigger'::regtype AND NOT EXISTS (SELECT 1 FROM unnest(proconfig)"
            " AS set WHERE set LIKE 'search_path=%pg_temp')"
        )
        assert cursor.fetchall() == []
        cursor.execute("SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal")
        assert cursor.fetchone()[0] > 20
