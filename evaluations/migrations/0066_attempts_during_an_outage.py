"""Attempts that failed during an outage count against no job; runs pause for each kind of outage."""

from django.db import migrations, models

REASONS = (
    "",
    *("auth", "quota", "not_found", "redirect", "budget", "study_budget"),
    *("endpoint_down", "asked_to_wait", "endpoint_errors", "broken_replies"),
    *("no_reply", "rejected", "not_stored"),
    *("no_key", "address", "endpoint_changed", "unreadable"),
    *("spending_cap", "by_person"),
)
STATUSES = ("queued", "running", "stopping", "stopped", "paused", "finished", "imported")


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0065_marking_samples")]

    operations = [
        migrations.AddField(
            "attempt", "during_outage", models.BooleanField(db_default=False, default=False)
        ),
        migrations.RemoveConstraint("run", "run_lists_known"),
        migrations.AddConstraint(
            "run",
            models.CheckConstraint(
                condition=models.Q(
                    pause_reason__in=list(REASONS),
                    purpose__in=["answer", "judge", "suggest", "read"],
                    status__in=list(STATUSES),
                ),
                name="run_lists_known",
            ),
        ),
    ]
