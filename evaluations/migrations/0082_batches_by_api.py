"""Batches through the batch API of an endpoint, and runs that wait because it rejects them."""

from django.db import migrations, models

from evaluations.migrations import _run_counts


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0081_repeated_texts")]

    operations = [
        # The triggers name the table of runs, which SQLite makes anew.
        migrations.RunPython(_run_counts.remove, _run_counts.install),
        migrations.RemoveConstraint(
            model_name="run",
            name="run_lists_known",
        ),
        migrations.AddField(
            model_name="batch",
            name="failures",
            field=models.PositiveSmallIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="batch",
            name="held_until",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="batch",
            name="holder",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddField(
            model_name="batch",
            name="input_file",
            field=models.CharField(blank=True, db_default="", default="", max_length=120),
        ),
        migrations.AddField(
            model_name="batch",
            name="remote_answered",
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name="batch",
            name="unanswered",
            field=models.PositiveIntegerField(db_default=0, default=0),
        ),
        migrations.AddField(
            model_name="run",
            name="batch_api",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "pause_reason__in",
                        [
                            "",
                            "auth",
                            "quota",
                            "not_found",
                            "redirect",
                            "budget",
                            "study_budget",
                            "endpoint_down",
                            "asked_to_wait",
                            "endpoint_errors",
                            "broken_replies",
                            "no_reply",
                            "rejected",
                            "not_stored",
                            "no_key",
                            "address",
                            "endpoint_changed",
                            "batch_rejected",
                            "unreadable",
                            "spending_cap",
                            "by_person",
                        ],
                    ),
                    ("purpose__in", ["answer", "judge", "suggest", "read"]),
                    (
                        "status__in",
                        [
                            "queued",
                            "running",
                            "stopping",
                            "stopped",
                            "paused",
                            "finished",
                            "imported",
                        ],
                    ),
                ),
                name="run_lists_known",
            ),
        ),
        migrations.RunPython(_run_counts.install, _run_counts.remove),
    ]
