"""What replies are apart from their text, and the cost that they report."""

from django.db import migrations, models

from evaluations.migrations import _run_counts

ENDINGS = (
    ("complete", "Complete"),
    ("cut_off", "Cut off"),
    ("filtered", "Stopped by a content filter"),
    ("refused", "Refused"),
    ("tool_calls", "Tool calls instead of an answer"),
    ("reasoning", "Reasoning without an answer"),
    ("empty", "Empty"),
)
USAGES = (
    ("complete", "Complete"),
    ("missing", "Usage missing: the reserved amount stands"),
    ("odd", "Usage contradicts itself: the reserved amount stands"),
    ("reported", "Usage missing: the provider's cost counts"),
)
STATUSES = ("sent", "answered", "error", "unknown")


def values(choices):
    """Return the stored values of *choices*, and none."""
    return ["", *(value for value, _label in choices)]


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0074_batches")]

    # SQLite makes the table of attempts anew, without the triggers that count them.
    operations = [
        migrations.RunPython(migrations.RunPython.noop, _run_counts.install),
        migrations.AddField(
            "endpoint", "cost_in_replies", models.BooleanField(db_default=False, default=False)
        ),
        migrations.RemoveConstraint("attempt", "attempt_status_known"),
        migrations.AddField(
            "attempt",
            "ending",
            models.CharField(
                blank=True, choices=list(ENDINGS), db_default="", default="", max_length=10
            ),
        ),
        migrations.AddField("attempt", "choices", models.PositiveSmallIntegerField(null=True)),
        migrations.AddField(
            "attempt", "other_model", models.BooleanField(db_default=False, default=False)
        ),
        migrations.AlterField(
            "attempt",
            "usage",
            models.CharField(
                blank=True, choices=list(USAGES), db_default="", default="", max_length=8
            ),
        ),
        migrations.AddConstraint(
            "attempt",
            models.CheckConstraint(
                condition=models.Q(
                    status__in=list(STATUSES), usage__in=values(USAGES), ending__in=values(ENDINGS)
                ),
                name="attempt_status_known",
            ),
        ),
        migrations.RunPython(_run_counts.install, migrations.RunPython.noop),
    ]
