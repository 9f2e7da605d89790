"""A row of the history of marks has the time at which it is inserted, and a key in order."""

from django.db import migrations

from evaluations.migrations._mark_history import install_all
from gradeapp.audit.append_only import key_in_order, near_clock, protect, statements

TABLE = "evaluations_markchange"


def condition(vendor):
    """Return when a row may be inserted: triggers take the time from the database's clock."""
    now = near_clock(vendor, "NEW.changed_at", "-10 minutes", "+10 minutes")
    return f"{key_in_order(vendor, TABLE)} AND {now}"


def expected(connection):
    """Return what makes the triggers of the table on *connection*, for ``verify_audit``."""
    return statements(connection.vendor, TABLE, insert=condition(connection.vendor))


def install(apps, schema_editor):
    """Put the triggers on the history, and those of the tables of marks anew."""
    protect(schema_editor, TABLE, insert=condition(schema_editor.connection.vendor))
    install_all(apps, schema_editor)


def remove(apps, schema_editor):
    protect(schema_editor, TABLE)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0099_round_form_key"),
        ("audit", "0008_times_and_copies"),
    ]

    operations = [migrations.RunPython(install, remove)]
