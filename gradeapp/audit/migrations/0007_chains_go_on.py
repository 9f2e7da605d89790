"""Seals and segments go on where their chain stands, and no INSERT OR REPLACE deletes one.

The conditions of 0003 stay, made narrower. What a chain says of entries without a signature stays too.
"""

from importlib import import_module

from django.db import migrations

from gradeapp.audit.append_only import protect, release

before = import_module("gradeapp.audit.migrations.0003_append_only")

# The segment of a position: that with the lowest end from it on, if it begins before it.
REMOVED = (
    "EXISTS (SELECT 1 FROM audit_segment g WHERE g.chain_id = {chain} AND g.removed_at IS NOT NULL"
    ' AND g."first" <= {position} AND g."last" = (SELECT MIN(x."last") FROM audit_segment x'
    ' WHERE x.chain_id = {chain} AND x."last" >= {position}))'
)
ENTRY_REMOVED = (
    "EXISTS (SELECT 1 FROM audit_seal s JOIN audit_chain c ON c.id = s.chain_id"
    " WHERE c.name = 'audit' AND s.\"row\" = OLD.id AND "
    + REMOVED.format(chain="s.chain_id", position="s.position")
    + ")"
)
SEAL_REMOVED = REMOVED.format(chain="OLD.chain_id", position="OLD.position")
# Keys up to unsigned_until are those of entries that were there before signatures.
ENTRY_COMES = (
    "NEW.id > 0 AND NEW.id > COALESCE("
    "(SELECT c.unsigned_until FROM audit_chain c WHERE c.name = 'audit'), 0)"
)
# The sealer moves the chain first, then adds the seals, then their segment.
SEAL_COMES = (
    "NEW.position <= (SELECT c.position FROM audit_chain c WHERE c.id = NEW.chain_id)"
    " AND (NEW.position = 1"
    " OR EXISTS (SELECT 1 FROM audit_seal s WHERE s.chain_id = NEW.chain_id"
    " AND s.position = NEW.position - 1)"
    " OR EXISTS (SELECT 1 FROM audit_segment g WHERE g.chain_id = NEW.chain_id"
    ' AND g."last" = NEW.position - 1))'
    " AND NOT EXISTS (SELECT 1 FROM audit_segment g WHERE g.chain_id = NEW.chain_id"
    ' AND g."last" >= NEW.position AND g."first" <= NEW.position)'
)
SEGMENT_COMES = (
    "NEW.removed_at IS NULL AND NEW.sealed_at >= {lately} AND NEW.\"first\" <= NEW.\"last\""
    " AND EXISTS (SELECT 1 FROM audit_chain c WHERE c.id = NEW.chain_id"
    ' AND c.position = NEW."last" AND c.head = NEW.head)'
    ' AND (NEW."first" = 1 OR EXISTS (SELECT 1 FROM audit_segment g'
    ' WHERE g.chain_id = NEW.chain_id AND g."last" = NEW."first" - 1))'
    ' AND EXISTS (SELECT 1 FROM audit_seal s WHERE s.chain_id = NEW.chain_id'
    ' AND s.position = NEW."last" AND s.hash = NEW.head)'
)
SEGMENT_GOES = before.SEGMENT_GOES + " AND NEW.removed_at >= {lately}"
CHAIN_GOES_ON = (
    "NEW.id = OLD.id AND NEW.name = OLD.name AND NEW.unsigned_until = OLD.unsigned_until"
    " AND NEW.position >= OLD.position"
)
CHAIN_COMES = "NEW.unsigned_until = 0 AND NEW.position = 0"
# Clocks of workers may differ from that of the database, by less than this.
LATELY = {
    "postgresql": "now() - interval '1 day'",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%S', 'now', '-1 day')",
}
TABLES = ("audit_auditentry", "audit_seal", "audit_segment", "audit_chain")


def install(apps, schema_editor):
    """Put the triggers on the tables as they are now, in place of older ones."""
    vendor = schema_editor.connection.vendor
    old, lately = before.OLD[vendor], LATELY[vendor]
    protect(schema_editor, "audit_auditentry", delete=ENTRY_REMOVED, insert=ENTRY_COMES)
    protect(
        schema_editor,
        "audit_seal",
        delete=SEAL_REMOVED,
        insert=SEAL_COMES,
        keys={("chain_id", "position"): "", ("chain_id", "row"): ""},
    )
    protect(
        schema_editor,
        "audit_segment",
        update=SEGMENT_GOES.format(old=old, lately=lately),
        insert=SEGMENT_COMES.format(lately=lately),
        keys={("chain_id", "first"): "", ("chain_id", "last"): ""},
    )
    protect(
        schema_editor,
        "audit_chain",
        update=CHAIN_GOES_ON,
        insert=CHAIN_COMES,
        keys={("name",): ""},
    )


def remove(apps, schema_editor):
    """Put back the triggers of 0003."""
    for table in TABLES:
        release(schema_editor, table)
    before.install(apps, schema_editor)


class Migration(migrations.Migration):
    dependencies = [("audit", "0006_reads")]

    operations = [migrations.RunPython(install, remove)]
