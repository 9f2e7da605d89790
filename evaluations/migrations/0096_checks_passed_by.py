"""Which checks were passed by teachers who helped out."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone

CHECKS = ("seed", "repeat")


def pass_what_was_lost(apps, schema_editor):
    """Checks whose neighbour another has marked were lost to their teacher: they stay so.

    Until now that followed from the response before the check in the queue of its teacher.
    """
    Slot = apps.get_model("evaluations", "Slot")
    live = {"answer__round__status__in": ("open", "paused")}
    unmarked = Slot.objects.filter(kind__in=CHECKS, marked=False, planned__isnull=False, **live)
    queues = unmarked.order_by().values_list("answer__round", "planned").distinct()
    for made, teacher in list(queues):
        lost, beside = {}, None
        own = Slot.objects.filter(answer__round=made, planned=teacher).exclude(kind="arbitration")
        columns = ("pk", "kind", "marked", "holder", "lease_until")
        for key, kind, marked, holder, until in own.order_by("order").values_list(*columns):
            at_hand = holder == teacher and until is not None and until > timezone.now()
            if kind not in CHECKS:
                beside = (key, holder) if marked and holder != teacher else None
            elif beside and not marked and not at_hand:
                lost[key] = beside
        for key, (beside, helper) in lost.items():
            passed = {"passed_at": timezone.now(), "passed_with": beside, "passed_by": helper}
            Slot.objects.filter(pk=key).update(**passed, holder=None, lease_until=None)


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0095_marks_are_not_replaced'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='slot',
            name='passed_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='slot',
            name='passed_with',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='passed', to='evaluations.slot'),
        ),
        migrations.AddField(
            model_name='slot',
            name='passed_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.RunPython(pass_what_was_lost, migrations.RunPython.noop, elidable=True),
    ]
