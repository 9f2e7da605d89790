"""Columns that runs fill have defaults in the database, so that a program of before can insert."""

from django.db import migrations, models

SMALL, TEXT = models.PositiveSmallIntegerField, models.CharField


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0060_accounts_of_endpoints")]

    # In the order in which a worker locks the tables.
    operations = [
        migrations.AlterField(
            "endpoint", "max_completion_tokens", models.BooleanField(db_default=False, default=False)
        ),
        migrations.AlterField(
            "endpoint", "max_temperature", models.FloatField(db_default=2.0, default=2.0)
        ),
        migrations.AlterField(
            "endpoint", "takes_images", models.BooleanField(db_default=False, default=False)
        ),
        migrations.AlterField("job", "step", SMALL(db_default=1, default=1)),
        migrations.AlterField("attempt", "images", models.JSONField(db_default=[], default=list)),
        migrations.AlterField("attempt", "images_omitted", SMALL(db_default=0, default=0)),
        migrations.AlterField(
            "attempt", "option_order", TEXT(blank=True, db_default="", default="", max_length=26)
        ),
        migrations.AlterField("attempt", "params", models.JSONField(db_default={}, default=dict)),
        migrations.AlterField("response", "images_omitted", SMALL(db_default=0, default=0)),
        migrations.AlterField("response", "images_sent", SMALL(db_default=0, default=0)),
        migrations.AlterField(
            "response", "option_order", TEXT(blank=True, db_default="", default="", max_length=26)
        ),
    ]
