"""What a teacher has at hand is not passed any more: who claims something before it goes keeps it."""

from django.conf import settings
from django.db import migrations


def keep_what_is_held(apps, schema_editor):
    slots = apps.get_model("evaluations", "Slot").objects.filter(holder__isnull=False, marked=False)
    slots.filter(passed_at__isnull=False).update(passed_at=None, passed_with=None, passed_by=None)


class Migration(migrations.Migration):

    dependencies = [
        ("evaluations", "0104_slots_passed"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunPython(keep_what_is_held, migrations.RunPython.noop)]
