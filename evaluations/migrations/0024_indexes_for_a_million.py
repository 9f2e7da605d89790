"""Add the indexes by which what waits for people is found among a million responses."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0023_pointers_and_closed_lists")]

    operations = [
        migrations.AddIndex(
            "response", models.Index(fields=["rule_reading"], name="response_by_rule_reading")
        ),
        migrations.AddIndex(
            "response",
            models.Index(
                fields=["model_reading"],
                condition=models.Q(model_reading__isnull=False),
                name="response_read_by_model",
            ),
        ),
        migrations.AddIndex(
            "extraction",
            models.Index(fields=["outcome", "confidence"], name="extraction_by_outcome"),
        ),
    ]
