"""Calls whose job an earlier call's late reply has done were under way for ever: they are lost."""

from datetime import timedelta

from django.db import migrations
from django.utils import timezone


def end_calls(apps, schema_editor):
    sent = apps.get_model("evaluations", "Attempt").objects.filter(status="sent")
    # Whoever made one may still bring its reply, within a day.
    stuck = sent.filter(job__status="done", sent_at__lt=timezone.now() - timedelta(days=1))
    keys = list(stuck.filter(job__lease_owner="").values_list("pk", flat=True))
    for start in range(0, len(keys), 500):
        some = apps.get_model("evaluations", "Attempt").objects.filter(
            pk__in=keys[start : start + 500]
        )
        some.update(status="unknown", error="worker_lost", finished_at=timezone.now())


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0106_review_and_check_form_keys")]

    operations = [migrations.RunPython(end_calls, migrations.RunPython.noop)]
