"""Functions of triggers find tables in their own schema first (PostgreSQL).

Without that, a temporary table of the same name stood before the one that a trigger reads or
writes: marks could be changed without history, and entries of the audit trail deleted.
"""

from django.db import migrations

FIX = """DO $fix$ DECLARE one regprocedure; BEGIN
    FOR one IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
        AND prorettype = 'trigger'::regtype AND pg_has_role(proowner, 'USAGE')
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', one, current_schema());
    END LOOP;
END $fix$"""


def name_the_schema(apps, schema_editor):
    """Set where each function of a trigger looks for tables; ``pg_temp`` comes last."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(FIX, None)


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0097_partner_passed'),
        ('questions', '0015_bank_version'),
        ('audit', '0007_chains_go_on'),
    ]

    operations = [migrations.RunPython(name_the_schema, migrations.RunPython.noop)]
