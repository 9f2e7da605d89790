"""Each endpoint gets an account of its own, and what calls have cost so far is counted."""

from collections import defaultdict
from decimal import Decimal

from django.db import migrations

UNIT = Decimal("0.00000001")


def give_accounts(apps, schema_editor):
    Endpoint = apps.get_model("evaluations", "Endpoint")
    ProviderAccount = apps.get_model("evaluations", "ProviderAccount")
    for endpoint in Endpoint.objects.filter(account=None).order_by("pk"):
        account, _made = ProviderAccount.objects.get_or_create(name=endpoint.name)
        Endpoint.objects.filter(pk=endpoint.pk).update(account=account)


def count_spending(apps, schema_editor):
    Attempt = apps.get_model("evaluations", "Attempt")
    Run = apps.get_model("evaluations", "Run")
    Spending = apps.get_model("evaluations", "Spending")
    settings = Run.objects.filter(endpoint__isnull=False).values_list("pk", "run_settings")
    currencies = {pk: facts.get("currency") or "CNY" for pk, facts in settings.iterator()}
    sums = defaultdict(int)
    rows = Attempt.objects.order_by().values_list(
        "job__run", "sent_at", "status", "cost", "reserved"
    )
    for run, sent_at, status, cost, reserved in rows.iterator():
        amount = reserved if status in ("sent", "unknown") else cost
        units = int(amount / UNIT)
        if units:
            sums[currencies[run], f"{sent_at:%Y-%m}"] += units
    Spending.objects.bulk_create(
        Spending(currency=currency, period=period, committed=committed)
        for (currency, period), committed in sorted(sums.items())
    )


class Migration(migrations.Migration):

    dependencies = [
        ("evaluations", "0059_accounts_usage_and_caps"),
    ]

    operations = [
        migrations.RunPython(give_accounts, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(count_spending, migrations.RunPython.noop, elidable=True),
    ]
