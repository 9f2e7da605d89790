"""When the file of a batch was first taken: from then on its requests may be billed."""

from django.db import migrations, models
from django.db.models import F


def taken_when_made(apps, schema_editor):
    """Nobody knows which files were taken before: all that wait may have been."""
    batches = apps.get_model("evaluations", "Batch").objects
    batches.filter(by_api=False, state="waiting").update(taken_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0093_hidden_seeds")]

    operations = [
        migrations.AddField("batch", "taken_at", models.DateTimeField(null=True)),
        migrations.RunPython(taken_when_made, migrations.RunPython.noop),
    ]
