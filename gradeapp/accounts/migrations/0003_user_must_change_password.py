from django.core.management import call_command
from django.db import migrations, models


def make_cache_table(apps, schema_editor):
    call_command("createcachetable", database=schema_editor.connection.alias, verbosity=0)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0010_demo_people")]

    operations = [
        migrations.AddField(
            "user",
            "must_change_password",
            models.BooleanField(default=False, verbose_name="must change the password"),
        ),
        migrations.RunPython(make_cache_table, migrations.RunPython.noop),
    ]
