"""An attempt says which images it sent, which it left out, and how the options stood."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0054_endpoint_token_parameter")]

    operations = [
        migrations.AddField("attempt", "images", models.JSONField(default=list)),
        migrations.AddField(
            "attempt", "images_omitted", models.PositiveSmallIntegerField(default=0)
        ),
        migrations.AddField("attempt", "option_order", models.CharField(blank=True, max_length=26)),
    ]
