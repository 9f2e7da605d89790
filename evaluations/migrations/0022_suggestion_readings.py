"""Give what was read in replies that suggest a table of its own.

Until here it was an extraction whose policy said what was asked ("labels" or "rubric"), whose
method was "json" or the fault, and whose answers were what was said or what the fault names.
"""

import django.db.models.deletion
from django.db import migrations, models

ASKS = ("labels", "rubric")
BATCH = 1000


def move_readings(apps, schema_editor):
    extractions = apps.get_model("evaluations", "Extraction").objects.filter(policy__in=ASKS)
    readings = apps.get_model("evaluations", "SuggestionReading")
    # By id: the newest reading of a reply is the one that was shown.
    newest = {}
    for old in extractions.order_by("pk").iterator():
        fault = "" if old.outcome == "read" else old.method
        start, end = old.spans[0] if old.spans else (None, None)
        newest[old.response_id] = readings(
            response_id=old.response_id,
            asks=old.policy,
            reader_version=old.reader_version,
            said=[] if fault else old.answers,
            start=start,
            end=end,
            fault=fault,
            fault_values=old.answers[0] if fault and old.answers else {},
            created_at=old.created_at,
        )
    readings.objects.bulk_create(newest.values(), batch_size=BATCH)
    extractions.delete()
    # Check the changed rows now: PostgreSQL alters no table before.
    schema_editor.connection.check_constraints()


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0020_final_mark_sources")]

    operations = [
        migrations.CreateModel(
            name="SuggestionReading",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "asks",
                    models.CharField(
                        choices=[("labels", "Labels"), ("rubric", "Rubric drafts")], max_length=8
                    ),
                ),
                ("reader_version", models.CharField(max_length=20)),
                ("said", models.JSONField(default=list)),
                ("start", models.PositiveIntegerField(null=True)),
                ("end", models.PositiveIntegerField(null=True)),
                ("fault", models.CharField(blank=True, max_length=40)),
                ("fault_values", models.JSONField(default=dict)),
                ("created_at", models.DateTimeField()),  # the time of a moved row is set
                (
                    "response",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="suggestion",
                        to="evaluations.response",
                    ),
                ),
            ],
        ),
        migrations.RunPython(move_readings, migrations.RunPython.noop),
        migrations.AlterField(
            "suggestionreading", "created_at", models.DateTimeField(auto_now_add=True)
        ),
    ]
