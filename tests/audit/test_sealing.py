"""Every entry is sealed once, in an order of its own, whoever seals and whenever it commits."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from threading import Event, Thread

import pytest
from django.db import connection, transaction
from django.utils import timezone

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit import sealing
from gradeapp.audit.append_only import lifted
from gradeapp.audit.models import AuditEntry, Chain, Seal, Segment
from gradeapp.audit.record import record
from gradeapp.audit.sources import Source, sources
from gradeapp.audit.tags import Tag
from gradeapp.audit.verifying import verify_all
from tests.evaluations.marking.desk.test_marking_races import at_once
from tests.factories import make_user

postgresql = pytest.mark.skipif(
    connection.vendor != "postgresql", reason="SQLite has one writer at a time"
)


def audit() -> Source:
    return next(source for source in sources() if source.name == "audit")


def entries(number: int, actor: User | None = None) -> list[int]:
    return [record(Tag.RUN_STARTED, "run:1", actor=actor).pk for _ in range(number)]


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "BATCH", 5)


@pytest.mark.django_db(transaction=True)
def test_two_sealers_seal_each_entry_once(small_batches: None) -> None:
    keys = entries(40)
    seal = partial(sealing.seal, audit(), timezone.now())
    for _ in range(5):
        at_once(seal, seal, seal)
    rows = Seal.objects.order_by("position").values_list("position", "row")
    assert list(rows) == list(enumerate(keys, 1))
    assert Segment.objects.count() == 8
    assert not verify_all(timezone.now())[0].named


@pytest.mark.django_db
def test_a_sealer_that_lost_its_lease_adds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    entries(3)
    now = timezone.now()
    Chain.objects.filter(name="audit").update(holder="the first", lease_until=now)
    chain = Chain.objects.get(name="audit")
    assert sealing.seal(audit(), now - timedelta(seconds=1)) == 0  # the first still holds it
    assert sealing.seal(audit(), now) == 3
    late = list(AuditEntry.objects.values(*audit().fields))
    assert not sealing._seal_batch(audit(), chain, "the first", late, now)
    assert Seal.objects.count() == 3


@postgresql
@pytest.mark.django_db(transaction=True)
def test_an_entry_that_commits_late_is_sealed_later() -> None:
    """Its number is lower than what was sealed before it: it comes after, and nothing is lost."""
    actor = make_user(Role.LEAD)
    written, sealed = Event(), Event()
    late: list[int] = []

    def write_slowly() -> None:
        with transaction.atomic():
            late.extend(entries(1, actor))
            written.set()
            sealed.wait(10)
        connection.close()

    thread = Thread(target=write_slowly)
    thread.start()
    assert written.wait(10)
    (early,) = entries(1, actor)
    assert sealing.seal_all() == 1
    sealed.set()
    thread.join()
    assert late[0] < early
    assert sealing.seal_all() == 1
    rows = Seal.objects.order_by("position").values_list("row", flat=True)
    assert list(rows) == [early, late[0]]
    assert not verify_all(timezone.now())[0].named


@pytest.mark.django_db
def test_what_became_visible_long_after_its_hour_is_found_by_the_daily_pass() -> None:
    entries(3)
    now = timezone.now()
    sealing.seal_all(now)
    # As if an entry with a lower key, written two hours ago, had committed only now.
    before = now - timedelta(hours=2)
    key = AuditEntry.objects.create(at=before, tag=Tag.RUN_STARTED, target="run:1").pk
    chain = Chain.objects.filter(name="audit")
    chain.update(seen=key)
    assert sealing.seal_all(now) == 0
    chain.update(seen=key, swept_at=now - timedelta(hours=25))
    assert sealing.seal_all(now) == 1
    assert Seal.objects.latest("position").row == key


@pytest.mark.django_db
def test_a_huge_key_stops_no_sealing() -> None:
    """A row that somebody put in with one, past the triggers, two hours ago."""
    now = timezone.now()
    (key,) = entries(1)
    made = partial(AuditEntry.objects.create, tag=Tag.RUN_STARTED, target="run:1")
    with lifted(connection):
        made(pk=10**9, at=now - timedelta(hours=2))
    sealing.seal_all(now)
    chain = Chain.objects.filter(name="audit")
    chain.update(seen=10**9)
    with lifted(connection):
        made(pk=key + 1, at=now)
    assert [sealing.seal_all(now) for _ in range(3)] == [0, 1, 0]
    assert chain.get().seen < key


@pytest.mark.django_db
def test_rows_that_waited_for_days_are_sealed_in_batches_without_a_note(
    small_batches: None,
) -> None:
    """A new installation, then a worker that was stopped; long transactions commit last."""
    now = timezone.now()
    (source,) = (one for one in sources() if one.name == "marks")
    for since in (timedelta(days=9), timedelta(days=3), timedelta(hours=1)):
        times = [now - since + n * since / 12 for n in range(12)]
        with lifted(connection):
            source.model._default_manager.bulk_create(
                source.model(table="evaluations_mark", row=1, before="{}", changed_at=time)
                for time in times
            )
            looked = Chain.objects.filter(name="marks").values_list("looked_at", flat=True).first()
            assert sealing.seal_all(now) == 12
            Chain.objects.update(looked_at=now - since / 3 if looked is None else now)
    assert Segment.objects.filter(chain__name="marks").count() == 9
    assert not verify_all(now)[1].named


@pytest.mark.django_db
def test_writing_an_entry_is_one_statement(lead: User, django_assert_num_queries: object) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        record(Tag.RUN_STARTED, lead, actor=lead)


def test_the_clock_seals_within_a_minute() -> None:
    from gradeapp.celery import app

    entry = app.conf.beat_schedule["seal-entries"]
    assert entry["schedule"].run_every <= timedelta(seconds=30)
    app.loader.import_default_modules()
    assert entry["task"] in app.tasks


@pytest.mark.django_db
def test_a_chain_is_held_by_nobody_for_ever() -> None:
    """Who can write SQL holds it for years, or has the daily pass done in the future."""
    now = timezone.now()
    entries(2)
    sealing.seal(audit(), now)
    chain = Chain.objects.filter(name="audit")
    years = now + timedelta(days=9999)
    chain.update(holder="somebody", lease_until=years, swept_at=years)
    entries(2)
    assert sealing.seal(audit(), now) == 2
    assert chain.get().swept_at == now
