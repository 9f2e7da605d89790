"""verify_audit finds what somebody changed who dropped the triggers."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from evaluations.models import Mark, MarkChange
from gradeapp.accounts.models import User
from gradeapp.audit.append_only import lifted
from gradeapp.audit.models import AuditEntry, Chain, Seal
from gradeapp.audit.record import record
from gradeapp.audit.sealing import seal_all
from gradeapp.audit.tags import Tag
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
    assert result["broken"] == [f"audit: {place}audit entry {forged} {said}"]


def test_a_chain_without_its_end_or_its_middle(trail: list[AuditEntry]) -> None:
    tampered("DELETE FROM audit_seal WHERE position = 3")
    assert verified()[1]["broken"] == ["audit: links 3 to 3 are missing"]
    tampered("DELETE FROM audit_seal WHERE position > 3")
    assert "audit: links 3 to 5 are missing at the end" in verified()[1]["broken"]


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
