"""Store with an attempt the rubric and the marking notes that the request showed to a judge."""

import django.db.models.deletion
from django.db import migrations, models


def take_rubrics(apps, schema_editor):
    """Take the rubric of an earlier attempt from its judgement; its notes are not known."""
    judgements = apps.get_model("evaluations", "Judgement").objects.filter(rubric__isnull=False)
    attempts = apps.get_model("evaluations", "Attempt").objects.all()
    shown = judgements.filter(attempt=models.OuterRef("pk")).values("rubric")[:1]
    attempts.filter(judgement__rubric__isnull=False).update(rubric=models.Subquery(shown))
    # Check the changed rows now: PostgreSQL alters no table before.
    schema_editor.connection.check_constraints()


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0017_provenance"),
        ("questions", "0008_gold_unread"),
    ]

    operations = [
        migrations.AddField(
            "attempt",
            "rubric",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="questions.rubric",
            ),
        ),
        migrations.AddField(
            "attempt",
            "marking_notes",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="evaluations.houseruling",
            ),
        ),
        migrations.RunPython(take_rubrics, migrations.RunPython.noop),
    ]
