from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0087_expected_cost")]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="prompt_bytes",
            field=models.PositiveIntegerField(null=True),
        ),
    ]
