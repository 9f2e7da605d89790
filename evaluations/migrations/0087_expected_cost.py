from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0086_batch_error_status")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="expected_cost",
            field=models.DecimalField(decimal_places=8, max_digits=14, null=True),
        ),
    ]
