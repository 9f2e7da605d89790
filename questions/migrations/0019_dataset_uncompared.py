from django.db import migrations, models

from questions.migrations._bank_version import install


class Migration(migrations.Migration):
    """SQLite makes the table anew, forwards and backwards, without its triggers."""

    dependencies = [
        ("questions", "0018_human_rate_form_key"),
    ]

    operations = [
        migrations.RunPython(migrations.RunPython.noop, install),
        migrations.AddField(
            model_name="dataset",
            name="uncompared",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.RunPython(install, migrations.RunPython.noop),
    ]
