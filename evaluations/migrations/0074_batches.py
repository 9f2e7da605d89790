"""Runs whose calls are made by batches, at half the price."""

import uuid

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from evaluations.migrations import _run_counts


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0073_paste_lists"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # The triggers name the table of runs, which SQLite makes anew.
        migrations.RunPython(_run_counts.remove, _run_counts.install),
        migrations.AddField(
            "run", "by_batch", models.BooleanField(db_default=False, default=False)
        ),
        migrations.RunPython(_run_counts.install, _run_counts.remove),
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("public_id", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting for replies"),
                            ("read", "Replies read"),
                            ("failed", "Rejected by the endpoint"),
                            ("discarded", "Discarded"),
                        ],
                        max_length=9,
                    ),
                ),
                ("by_api", models.BooleanField(default=False)),
                ("requests", models.PositiveIntegerField(default=0)),
                ("size", models.PositiveBigIntegerField(default=0)),
                ("answered", models.PositiveIntegerField(default=0)),
                ("failed", models.PositiveIntegerField(default=0)),
                ("remote_id", models.CharField(blank=True, max_length=120)),
                ("remote_state", models.CharField(blank=True, max_length=40)),
                ("error", models.CharField(blank=True, max_length=400)),
                ("next_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="batches",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="batches",
                        to="evaluations.run",
                    ),
                ),
            ],
            options={
                "ordering": ["id"],
                "indexes": [models.Index(fields=["state", "next_at"], name="batch_by_state")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["waiting", "read", "failed", "discarded"])
                        ),
                        name="batch_state_known",
                    )
                ],
            },
        ),
    ]
