"""Entries, seals and segments are only added to; retention removes whole segments."""

from django.db import migrations
from django.db.models import Max

from gradeapp.audit.append_only import protect, release

REMOVED = (
    "EXISTS (SELECT 1 FROM audit_segment g WHERE g.chain_id = {chain} AND g.removed_at IS NOT NULL"
    ' AND g."last" = (SELECT MIN(x."last") FROM audit_segment x'
    ' WHERE x.chain_id = {chain} AND x."last" >= {position}))'
)
ENTRY_REMOVED = (
    "EXISTS (SELECT 1 FROM audit_seal s JOIN audit_chain c ON c.id = s.chain_id"
    " WHERE c.name = 'audit' AND s.\"row\" = OLD.id AND "
    + REMOVED.format(chain="s.chain_id", position="s.position")
    + ")"
)
SEAL_REMOVED = REMOVED.format(chain="OLD.chain_id", position="OLD.position")
SEGMENT_GOES = (
    "OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL AND OLD.sealed_at < {old}"
    " AND NEW.id = OLD.id AND NEW.chain_id = OLD.chain_id AND NEW.head = OLD.head"
    ' AND NEW."first" = OLD."first" AND NEW."last" = OLD."last" AND NEW.sealed_at = OLD.sealed_at'
    " AND NOT EXISTS (SELECT 1 FROM audit_segment g WHERE g.chain_id = OLD.chain_id"
    ' AND g."first" < OLD."first" AND g.removed_at IS NULL)'
)
OLD = {
    "postgresql": "now() - interval '30 days'",
    "sqlite": "strftime('%Y-%m-%d %H:%M:%S', 'now', '-30 days')",
}


def install(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    protect(schema_editor, "audit_auditentry", delete=ENTRY_REMOVED)
    protect(schema_editor, "audit_seal", delete=SEAL_REMOVED)
    protect(schema_editor, "audit_segment", update=SEGMENT_GOES.format(old=OLD[vendor]))


def remove(apps, schema_editor):
    for table in ("audit_auditentry", "audit_seal", "audit_segment"):
        release(schema_editor, table)


def begin(apps, schema_editor):
    """Entries up to now have no signature."""
    newest = apps.get_model("audit", "AuditEntry").objects.aggregate(newest=Max("pk"))["newest"]
    apps.get_model("audit", "Chain").objects.create(name="audit", unsigned_until=newest or 0)


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0002_seals'),
    ]

    operations = [
        migrations.RunPython(begin, migrations.RunPython.noop),
        migrations.RunPython(install, remove),
    ]
