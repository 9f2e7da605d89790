"""Rows come with the time, key and signature of their own, and no chain forgets when it was sealed.

The conditions of 0007 stay, made narrower.
"""

from functools import partial
from importlib import import_module

from django.db import migrations, models
from django.db.models import F
from django.db.models.functions import Least, Now

from gradeapp.audit.append_only import key_in_order, near_clock, protect, release, statements

first = import_module("gradeapp.audit.migrations.0003_append_only")
before = import_module("gradeapp.audit.migrations.0007_chains_go_on")

# A signature covers the time: entries of one signature are found by the index of times.
NO_COPY = (
    "NOT EXISTS (SELECT 1 FROM audit_auditentry AS copied WHERE copied.at = NEW.at"
    " AND copied.signature = NEW.signature AND copied.signature <> '' AND copied.id <> NEW.id)"
)
# A chain whose end was moved past its last link can be set back to that, and no further.
CHAIN_STANDS = before.CHAIN_GOES_ON.removesuffix(" AND NEW.position >= OLD.position") + (
    " AND (NEW.position >= OLD.position OR NEW.position = COALESCE("
    '(SELECT MAX(g."last") FROM audit_segment g WHERE g.chain_id = NEW.id), 0))'
)
SAME = {"postgresql": "{} IS NOT DISTINCT FROM {}", "sqlite": "{} IS {}"}
# How far the clock of a web server or worker may be from that of the database, and how far one
# time that was read from it may be from the next.
CLOCKS, STEPS = ("-1 day", "+1 day"), ("-10 minutes", "+10 minutes")
TABLES = before.TABLES


def guards(vendor):
    """Return the conditions of each table of the chains, as ``statements`` takes them."""
    same = SAME[vendor].format
    old, lately = first.OLD[vendor], before.LATELY[vendor]
    lookback = "(SELECT c.looked_at FROM audit_chain c WHERE c.id = NEW.chain_id)"
    if vendor == "sqlite":  # the text of a time may have fewer digits
        since = same("julianday(NEW.since)", f"julianday({lookback})")
    else:
        since = same("NEW.since", lookback)
    looked = (
        f"({same('NEW.looked_at', 'OLD.looked_at')}"
        " OR OLD.looked_at IS NULL AND {until_now} OR NEW.looked_at >= OLD.looked_at AND {until_now}"
        " OR {now})"
    ).format(
        until_now=near_clock(vendor, "NEW.looked_at", "-20000 days", STEPS[1]),
        now=near_clock(vendor, "NEW.looked_at", *STEPS),
    )
    # Of these minutes two may be alike: of two requests in the same microsecond.
    new = near_clock(vendor, "NEW.at", STEPS[0], CLOCKS[1])
    comes = [before.ENTRY_COMES, key_in_order(vendor, "audit_auditentry")]
    comes.append(f"({new} OR {NO_COPY})")
    comes.append(near_clock(vendor, "NEW.at", *CLOCKS))
    return {
        "audit_auditentry": {"delete": before.ENTRY_REMOVED, "insert": " AND ".join(comes)},
        "audit_seal": {
            "delete": before.SEAL_REMOVED,
            "insert": before.SEAL_COMES,
            "keys": {("chain_id", "position"): "", ("chain_id", "row"): ""},
        },
        "audit_segment": {
            "update": before.SEGMENT_GOES.format(old=old, lately=lately)
            + f" AND {same('NEW.since', 'OLD.since')}",
            "insert": before.SEGMENT_COMES.format(lately=lately) + f" AND {since}",
            "keys": {("chain_id", "first"): "", ("chain_id", "last"): ""},
        },
        "audit_chain": {
            "update": f"{CHAIN_STANDS} AND {looked}",
            "insert": before.CHAIN_COMES + " AND NEW.looked_at IS NULL",
            "keys": {("name",): ""},
        },
    }


def expected(table, connection):
    """Return what makes the triggers of *table* on *connection*, for ``verify_audit``."""
    return statements(connection.vendor, table, **guards(connection.vendor)[table])


def begin(apps, schema_editor):
    """Have the next sealing look at every row, and take times of the future for the present."""
    chains = apps.get_model("audit", "Chain").objects
    chains.update(seen=0, swept_at=None)
    chains.filter(looked_at__gt=Now()).update(looked_at=Least(F("looked_at"), Now()))


def install(apps, schema_editor):
    """Put the triggers on the tables as they are now, in place of older ones."""
    for table, conditions in guards(schema_editor.connection.vendor).items():
        protect(schema_editor, table, **conditions)


def remove(apps, schema_editor):
    """Put back the triggers of 0007."""
    for table in TABLES:
        release(schema_editor, table)
    before.install(apps, schema_editor)


# The tables of the chain of the audit trail, with what makes their triggers.
EXPECTED = {table: partial(expected, table) for table in TABLES}


class Migration(migrations.Migration):
    dependencies = [("audit", "0007_chains_go_on")]

    operations = [
        migrations.AddField(
            model_name="segment", name="since", field=models.DateTimeField(null=True)
        ),
        migrations.RunPython(begin, migrations.RunPython.noop),
        migrations.RunPython(install, remove),
    ]
