"""What the calls of a run cost, or may cost, is one number that all its workers reserve from."""

from collections import defaultdict
from decimal import Decimal

from django.db import migrations, models

UNIT = Decimal("0.00000001")


def count_committed(apps, schema_editor):
    Attempt = apps.get_model("evaluations", "Attempt")
    Run = apps.get_model("evaluations", "Run")
    sums = defaultdict(int)
    rows = Attempt.objects.order_by().values_list("job__run", "status", "cost", "reserved")
    for run, status, cost, reserved in rows.iterator():
        sums[run] += int((reserved if status in ("sent", "unknown") else cost) / UNIT)
    for run, committed in sums.items():
        Run.objects.filter(pk=run).update(committed=committed)


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0066_attempts_during_an_outage")]

    operations = [
        migrations.AddField("run", "committed", models.BigIntegerField(db_default=0, default=0)),
        migrations.RunPython(count_committed, migrations.RunPython.noop, elidable=True),
    ]
