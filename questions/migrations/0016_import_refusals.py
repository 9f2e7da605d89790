"""An import keeps the sentence with which it was refused, and its language."""

from django.db import migrations, models

from gradeapp.common.background_work.models import current_language

REFUSAL = models.TextField(blank=True, db_default="", default="")
LANGUAGE = models.CharField(db_default="en", default=current_language, max_length=10)


class Migration(migrations.Migration):
    dependencies = [("questions", "0015_bank_version")]

    operations = [
        migrations.AddField("importbatch", "refusal", REFUSAL),
        migrations.AddField("importbatch", "language", LANGUAGE),
    ]
