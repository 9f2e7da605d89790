"""A seed of a round that nobody is shown: aliases, queues and checks follow from it."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("evaluations", "0092_help_offers"),
    ]

    operations = [
        migrations.AddField(
            model_name="markinground",
            name="hidden_seed",
            field=models.BigIntegerField(null=True),
        ),
    ]
