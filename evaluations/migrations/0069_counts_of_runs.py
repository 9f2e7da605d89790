"""Sums of the jobs, calls and responses of runs, kept by triggers; and an index of recent calls."""

import django.db.models.deletion
from django.db import migrations, models

from evaluations.migrations import _run_counts

COUNTS = (
    *("pending", "waiting", "leased", "done", "failed", "refused"),
    *("answered", "unknown", "spent_units", "open_units", "responses"),
)


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0067_run_commits_its_budget"),
        ("questions", "0014_images_written_anew"),
    ]

    operations = [
        migrations.CreateModel(
            "RunCount",
            [
                (
                    "id",
                    models.BigAutoField(
                        primary_key=True, serialize=False, auto_created=True, verbose_name="ID"
                    ),
                ),
                ("shard", models.PositiveSmallIntegerField(db_default=0, default=0)),
                *((name, models.BigIntegerField(db_default=0, default=0)) for name in COUNTS),
                ("first_sent", models.DateTimeField(null=True)),
                ("last_finished", models.DateTimeField(null=True)),
                (
                    "run",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="counts",
                        to="evaluations.run",
                    ),
                ),
                (
                    "task",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="questions.task",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["run", "task", "shard"], name="one_count_per_run_task_and_shard"
                    )
                ]
            },
        ),
        migrations.AddIndex(
            "attempt", models.Index(fields=["finished_at"], name="attempt_by_finished_at")
        ),
        migrations.RunPython(_run_counts.fill, migrations.RunPython.noop),
        migrations.RunPython(_run_counts.install, _run_counts.remove),
    ]
