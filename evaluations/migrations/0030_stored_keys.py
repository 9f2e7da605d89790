"""Add the encrypted API key of an endpoint, and its last four characters."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0024_indexes_for_a_million")]

    operations = [
        migrations.AddField(
            "endpoint", "stored_key", models.TextField(blank=True, default="", editable=False)
        ),
        migrations.AddField(
            "endpoint",
            "key_hint",
            models.CharField(blank=True, default="", editable=False, max_length=4),
        ),
        migrations.AddConstraint(
            "endpoint",
            models.CheckConstraint(
                condition=models.Q(key_variable="") | models.Q(stored_key=""),
                name="a_key_is_stored_or_in_a_variable",
            ),
        ),
    ]
