"""Indexes for what is counted of a round, and for what waits for a third mark or the lead."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0008_pattern_searches")]

    operations = [
        migrations.AddIndex(
            model_name="blindanswer",
            index=models.Index(fields=["round", "role", "final"], name="answer_by_round"),
        ),
        migrations.AddIndex(
            model_name="slot",
            index=models.Index(
                fields=["kind", "answer"], condition=models.Q(marked=False), name="slot_waiting"
            ),
        ),
    ]
