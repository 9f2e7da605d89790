"""The history of marks is only added to."""

from django.db import migrations

from gradeapp.audit.append_only import protect, release

TABLE = "evaluations_markchange"


def install(apps, schema_editor):
    protect(schema_editor, TABLE)


def remove(apps, schema_editor):
    release(schema_editor, TABLE)


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0040_marking_notes'),
    ]

    operations = [
        migrations.RunPython(install, remove),
    ]
