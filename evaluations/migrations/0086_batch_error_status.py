from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0083_looks")]

    operations = [
        migrations.AddField(
            model_name="batch",
            name="error_status",
            field=models.PositiveSmallIntegerField(null=True),
        ),
    ]
