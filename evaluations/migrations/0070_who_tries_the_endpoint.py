"""In an outage the place of a worker says that it tries the endpoint for all workers of the run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0069_counts_of_runs")]

    operations = [
        migrations.AddField(
            "runworker", "tries", models.BooleanField(db_default=False, default=False)
        ),
    ]
