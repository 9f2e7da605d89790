"""verify_audit finds what somebody changed who dropped the triggers."""

from __future__ import annotations

import io
import json
import secrets
from datetime import datetime, timedelta
from threading import Thread
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from evaluations.models import Mark, MarkChange
from gradeapp.accounts.models import User
from gradeapp.audit.append_only import lifted
from gradeapp.audit.models import AuditEntry, Chain, Seal, Segment
from gradeapp.audit.record import record
from gradeapp.audit.retention import remove_old
from gradeapp.audit.sealing import seal_all
from gradeapp.audit.signing import signature
from gradeapp.audit.tags import Tag
from gradeapp.audit.verifying import verify_all
from tests.evaluations.marking_world import answers_of, give, small_round

pytestmark = pytest.mark.django_db


def tampered(statement: str, *values: object) -> None:
    """Run a statement as somebody who may drop triggers."""
    with lifted(connection), connection.cursor() as cursor:
        cursor.execute(statement, values)


def verified(*options: str) -> tuple[int, dict[str, Any], str]:
    """Exit status, JSON and standard error of verify_audit."""
    out, err = io.StringIO(), io.StringIO()
    status = 0
    try:
        call_command("verify_audit", "--format", "json", *options, stdout=out, stderr=err)
    except SystemExit as end:
        status = int(str(end.code))
    return status, json.loads(out.getvalue() or "{}"), err.getvalue()


@pytest.fixture
def trail(lead: User) -> list[AuditEntry]:
    made = [record(Tag.RUN_STARTED, "run:1", actor=lead, planned=n) for n in range(5)]
    seal_all()
    return made


def test_an_untouched_trail(trail: list[AuditEntry]) -> None:
    record(Tag.RUN_STOPPED, "run:1", actor=None)
    status, result, _error = verified()
    assert (status, result["checked"], result["broken"]) == (0, 5, [])
    assert result["unsealed"] == 1
    assert result["oldest_unsealed_seconds"] < 60


CHANGE = "UPDATE audit_auditentry SET target = 'run:2' WHERE id = %s"
DELETE = "DELETE FROM audit_auditentry WHERE id = %s"


@pytest.mark.parametrize(
    ("statement", "said"),
    [(CHANGE, "is not as it was sealed, or its link was changed"), (DELETE, "was deleted")],
)
def test_a_raw_change_names_the_first_broken_link(
    trail: list[AuditEntry], statement: str, said: str
) -> None:
    tampered(statement, trail[2].pk)
    tampered(statement, trail[3].pk)
    status, result, error = verified()
    assert status == 1
    first = f"audit: link 3: audit entry {trail[2].pk} {said}"
    assert result["broken"][0] == first
    assert len(result["broken"]) == 2
    assert error.strip() == f"2 broken; the first: {first}."


@pytest.mark.parametrize("sealed", [True, False])
def test_a_raw_insert_is_named(trail: list[AuditEntry], *, sealed: bool) -> None:
    copied = (
        "INSERT INTO audit_auditentry (at, actor_id, tag, target, detail, signature)"
        " SELECT at, actor_id, tag, 'run:9', detail, signature FROM audit_auditentry WHERE id = %s"
    )
    tampered(copied, trail[0].pk)
    forged = AuditEntry.objects.latest("id").pk
    if sealed:
        seal_all()
    status, result, _error = verified()
    assert status == 1
    place = "link 6: " if sealed else ""
    said = "was not written by gradeapp with this site's key"
    assert result["broken"] == [
        f"audit: {place}audit entry {forged} {said}",
        f"audit: audit entry {forged} has the signature of audit entry {trail[0].pk}: one is a"
        " copy",
    ]


def test_a_copy_of_an_entry_and_one_of_a_backup_are_named(trail: list[AuditEntry]) -> None:
    """Both have the signature of gradeapp; retention had removed what the second one is of."""
    copy = (
        "INSERT INTO audit_auditentry (at, actor_id, tag, target, detail, signature)"
        " SELECT at, actor_id, tag, target, detail, signature FROM audit_auditentry WHERE id = %s"
    )
    tampered(copy, trail[0].pk)
    copied = AuditEntry.objects.latest("id").pk
    at = timezone.now() - timedelta(days=40)
    signed = signature(at, None, Tag.RUN_STARTED, "run:9", {})
    with lifted(connection):
        removed = AuditEntry.objects.create(
            at=at, tag=Tag.RUN_STARTED, target="run:9", signature=signed
        ).pk
    late = "appeared long after the time that it names"
    same = (
        f"audit: audit entry {copied} has the signature of audit entry {trail[0].pk}: one is a copy"
    )
    not_sealed = f"audit: audit entry {removed} {late}, or was not sealed in its turn"
    assert verified()[1]["broken"] == [not_sealed, same]
    seal_all()
    assert verified()[1]["broken"] == [f"audit: link 7: audit entry {removed} {late}", same]


def test_a_chain_without_its_end_or_its_middle(trail: list[AuditEntry]) -> None:
    tampered("DELETE FROM audit_seal WHERE position = 3")
    assert verified()[1]["broken"] == ["audit: links 3 to 3 are missing"]
    tampered("DELETE FROM audit_seal WHERE position > 3")
    assert "audit: links 3 to 5 are missing at the end" in verified()[1]["broken"]


def test_a_chain_whose_end_was_moved_is_sealed_on_and_says_so(
    trail: list[AuditEntry], lead: User
) -> None:
    """By the one UPDATE that triggers must allow; no sealing could follow it."""
    Chain.objects.filter(name="audit").update(position=F("position") + 3, head="x")
    assert "links 6 to 8 are missing at the end" in "; ".join(verified()[1]["broken"])
    record(Tag.LOGIN, lead, actor=lead)
    assert seal_all() == 2
    assert seal_all() == 0
    moved = "audit: its end was moved to link 8 by hand, and set back to link 5, the last one"
    assert verified()[1]["broken"] == [f"{moved} that was there"]


def test_a_chain_rewritten_from_a_changed_entry_on_differs_from_a_kept_hash(
    trail: list[AuditEntry],
) -> None:
    (kept, _marks) = verified()[1]["heads"]
    assert verified("--kept", kept)[0] == 0
    with lifted(connection):
        AuditEntry.objects.filter(pk=trail[1].pk).update(target="run:2")
        Seal.objects.all().delete()
        connection.cursor().execute("DELETE FROM audit_segment")
        Chain.objects.all().delete()
        Chain.objects.create(name="audit", unsigned_until=trail[-1].pk)
    seal_all()
    assert verified()[0] == 0  # nothing inside the database tells
    status, result, _error = verified("--kept", kept)
    assert status == 1
    assert result["broken"] == ["audit: link 5 differs from the hash that was kept"]
    out = io.StringIO()
    call_command("verify_audit", "--heads", stdout=out)
    assert out.getvalue().splitlines()[0].startswith("audit:5:")
    assert "is not CHAIN:POSITION:HASH" in verified("--kept", "nonsense")[2]
    assert "There is no chain x" in verified("--kept", f"x:1:{'0' * 64}")[2]


def test_an_edited_history_of_marks_is_named(teacher: User, other_teacher: User) -> None:
    """R54: whoever edits what a mark was before is found, by change, deletion and insertion."""
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    mark = give(answer, teacher, ["3", "3", "6"])
    for total in (1, 2, 3):
        Mark.objects.filter(pk=mark.pk).update(total=total)
    seal_all()
    assert verified()[0] == 0
    links = dict(Seal.objects.filter(chain__name="marks").values_list("row", "position"))
    first, second, third = MarkChange.objects.order_by("id")
    tampered("UPDATE evaluations_markchange SET actor = 'tao' WHERE id = %s", first.pk)
    tampered("DELETE FROM evaluations_markchange WHERE id = %s", second.pk)
    tampered(
        "INSERT INTO evaluations_markchange"
        ' ("table", "row", answer, action, before, changed_at, actor)'
        ' SELECT "table", "row", answer, action, before, %s, actor FROM evaluations_markchange'
        " WHERE id = %s",
        "2026-01-01 00:00:00+00:00" if connection.vendor == "postgresql" else "2026-01-01 00:00:00",
        third.pk,
    )
    status, result, _error = verified()
    assert status == 1
    assert [sentence.split(": ", 1)[1] for sentence in result["broken"]] == [
        f"link {links[first.pk]}: mark change {first.pk} is not as it was sealed,"
        " or its link was changed",
        f"link {links[second.pk]}: mark change {second.pk} was deleted",
        f"mark change {MarkChange.objects.latest('id').pk} appeared long after the time that it"
        " names",
    ]
    chain = Chain.objects.get(name="marks")
    assert (chain.verified_broken, chain.verified_at is not None) == (3, True)
    assert timezone.now() >= chain.verified_at


def changed_at(at: datetime) -> int:
    """Insert a row into the history of marks, past the triggers; return its key."""
    with lifted(connection):
        return MarkChange.objects.create(
            table="evaluations_mark", row=1, action="update", before="{}", changed_at=at
        ).pk


def test_a_row_of_another_time_is_named_whatever_the_chain_says() -> None:
    now = timezone.now()
    changed_at(now)
    seal_all()
    changed_at(now)
    seal_all()  # the first segment has no time of the one before it
    looked = Chain.objects.get(name="marks").looked_at
    tampered("UPDATE audit_chain SET looked_at = NULL WHERE name = 'marks'")
    old, future = changed_at(now - timedelta(days=40)), changed_at(now + timedelta(days=400))
    early = "names a time long after it appeared"
    assert verified()[1]["broken"] == [f"marks: mark change {future} {early}"]
    seal_all()
    said = [f"marks: link 4: mark change {future} {early}"]
    forgotten = "marks: links 3 to 4 say too little of their time"
    assert verified()[1]["broken"] == [forgotten, *said]
    # The note of the first row was decided without it.
    with lifted(connection):
        Segment.objects.filter(chain__name="marks", first=3).update(since=looked)
    late = f"marks: link 3: mark change {old} appeared long after the time that it names"
    assert verified()[1]["broken"] == [late, *said]
    tampered('DELETE FROM audit_segment WHERE "first" = 3')
    assert "marks: the segment that begins with link 3 is missing" in verified()[1]["broken"]


def forged(given: str = "") -> int:
    """Insert an entry that gradeapp did not write; return its key."""
    return AuditEntry.objects.create(tag=Tag.RUN_STARTED, target="run:9", signature=given).pk


@pytest.mark.parametrize("given", ["", "0" * 64])
def test_an_entry_that_was_sealed_while_the_chain_asked_for_no_signature_is_named(
    trail: list[AuditEntry], given: str
) -> None:
    key = forged(given)
    tampered("UPDATE audit_chain SET unsigned_until = %s WHERE name = 'audit'", key)
    seal_all()
    tampered("UPDATE audit_chain SET unsigned_until = 0 WHERE name = 'audit'")
    assert Seal.objects.get(row=key).note == ""
    assert verified()[1]["broken"] == [
        f"audit: link 6: audit entry {key} was sealed as written by gradeapp, without a signature"
        " of this site's key"
    ]


def test_sealed_entries_of_a_key_that_was_replaced_stay_valid(
    trail: list[AuditEntry], settings: Any
) -> None:
    """docs/operations.md: a new key may come without the old one once all is sealed."""
    settings.SECRET_KEY = secrets.token_urlsafe(60)
    assert verified()[0] == 0
    record(Tag.RUN_STARTED, "run:1", actor=None)
    seal_all()
    assert verified()[0] == 0


def test_a_seal_above_the_end_of_the_chain_is_named_and_seals_nothing(
    trail: list[AuditEntry],
) -> None:
    key = forged()
    tampered(
        'INSERT INTO audit_seal (chain_id, position, "row", note, hash)'
        " SELECT chain_id, 1000, %s, '', hash FROM audit_seal WHERE position = 5",
        key,
    )
    tampered(
        'INSERT INTO audit_segment (chain_id, "first", "last", head, sealed_at, removed_at)'
        " SELECT chain_id, 1000, 1000, head, sealed_at, sealed_at FROM audit_segment"
        ' WHERE "last" = 5'
    )
    _status, result, _error = verified()
    assert result["broken"] == [
        "audit: a seal at 1000 is above the end of the chain, 5",
        "audit: a segment at 1000 is above the end of the chain, 5",
        f"audit: audit entry {key} was not written by gradeapp with this site's key",
    ]
    assert result["unsealed"] == 1


def test_an_entry_with_a_key_below_all_others_is_named(trail: list[AuditEntry]) -> None:
    with lifted(connection):
        AuditEntry.objects.create(pk=-5, tag=Tag.RUN_STARTED, target="run:9")
    said = "audit entry -5 was not written by gradeapp with this site's key"
    assert verified()[1]["broken"] == [f"audit: {said}"]
    assert seal_all() == 1
    assert verified()[1]["broken"] == [f"audit: link 6: {said}"]


def removed_by_sql(first: int) -> None:
    """Remove a segment as retention does, but without an entry of it."""
    now = timezone.now()
    assert Segment.objects.filter(first=first).update(removed_at=now) == 1
    rows = Seal.objects.filter(chain__name="audit", position=first)
    AuditEntry.objects.filter(pk__in=rows.values("row")).delete()
    rows.delete()


def test_a_segment_that_was_removed_without_an_entry_is_named(lead: User, settings: Any) -> None:
    settings.AUDIT_RETENTION_DAYS = 60
    now = timezone.now()
    for days in (100, 70, 40, 0):
        record(Tag.RUN_STARTED, lead, actor=lead)
        with lifted(connection):
            seal_all(now - timedelta(days=days))
    assert remove_old(now) == 2
    assert verified()[0] == 0
    removed_by_sql(3)
    said = ["audit: links 3 to 3 were removed without an audit entry"]
    assert verified()[1]["broken"] == said
    third = Segment.objects.get(first=3)
    entry = AuditEntry.objects.create(
        tag=Tag.SEGMENTS_REMOVED,
        target=f"segment:{third.pk}",
        detail={"first": 3, "last": 3, "head": third.head},
    )
    assert said[0] in verified()[1]["broken"]  # it has no signature
    with lifted(connection):
        entry.delete()
    seal_all()
    assert verified()[1]["broken"] == said


def test_the_entry_of_a_removal_may_be_removed_itself(lead: User, settings: Any) -> None:
    settings.AUDIT_RETENTION_DAYS = 60
    now = timezone.now()
    for days in (200, 120):
        record(Tag.RUN_STARTED, lead, actor=lead)
        with lifted(connection):
            seal_all(now - timedelta(days=days))
    assert remove_old(now) == 1
    # As if that had been 110 days ago, and its entry had been sealed then.
    with lifted(connection):
        Segment.objects.filter(first=1).update(removed_at=now - timedelta(days=110))
        seal_all(now - timedelta(days=110))
        record(Tag.RUN_STARTED, lead, actor=lead)
        seal_all(now)
    assert remove_old(now) == 2
    assert AuditEntry.objects.filter(tag=Tag.SEGMENTS_REMOVED, detail__first=1).count() == 0
    assert verified()[0] == 0


def test_the_history_of_marks_has_no_way_of_removal(teacher: User, other_teacher: User) -> None:
    (answer,) = answers_of(small_round([teacher, other_teacher]))
    mark = give(answer, teacher, ["3", "3", "6"])
    for total, days in ((1, 100), (2, 0)):
        Mark.objects.filter(pk=mark.pk).update(total=total)
        with lifted(connection):
            seal_all(timezone.now() - timedelta(days=days))
    marks = Segment.objects.filter(chain__name="marks")
    assert marks.filter(first=1).update(removed_at=timezone.now()) == 1
    assert "marks: links 1 to 1 were removed without an audit entry" in verified()[1]["broken"]


@pytest.mark.django_db(transaction=True)
def test_what_retention_removes_during_a_check_is_not_missing(
    settings: Any,
) -> None:
    """The check reads segments, links and the end of the chain in one snapshot."""
    for days in (100, 70, 40):
        record(Tag.RUN_STARTED, "run:1", actor=None)
        with lifted(connection):
            seal_all(timezone.now() - timedelta(days=days))
    settings.AUDIT_RETENTION_DAYS = 60
    removed: list[int] = []

    def remove() -> None:
        removed.append(remove_old(timezone.now()))
        connection.close()

    def when_segments_are_read(execute: Any, sql: str, *rest: Any) -> Any:
        found = execute(sql, *rest)
        if not removed and 'FROM "audit_segment"' in sql:
            thread = Thread(target=remove)
            thread.start()
            thread.join()
        return found

    with connection.execute_wrapper(when_segments_are_read):
        checked, _marks = verify_all(timezone.now())
    assert removed == [2]
    assert not checked.named
