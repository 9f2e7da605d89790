"""Work in the background keeps the sentence with which it was refused, and its language."""

from django.db import migrations, models

from gradeapp.common.background_work.models import current_language

REFUSAL = models.TextField(blank=True, db_default="", default="")
LANGUAGE = models.CharField(db_default="en", default=current_language, max_length=10)


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0101_odd_usage_and_checks")]

    operations = [
        migrations.AddField("export", "refusal", REFUSAL),
        migrations.AddField("export", "language", LANGUAGE),
        migrations.AddField("patternsearch", "refusal", REFUSAL),
        migrations.AddField("patternsearch", "language", LANGUAGE),
        migrations.AddField("rescoring", "refusal", REFUSAL),
        migrations.AddField("rescoring", "language", LANGUAGE),
    ]
