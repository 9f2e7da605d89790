"""Whether an endpoint wants the parameter max_completion_tokens instead of max_tokens."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0052_a_run_that_answers_has_a_condition")]

    operations = [
        migrations.AddField(
            model_name="endpoint",
            name="max_completion_tokens",
            field=models.BooleanField(default=False),
        ),
    ]
