"""The database holds that a run that answers, and no other, has a condition."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0051_conditions_of_earlier_runs")]

    operations = [
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('condition__isnull', False), ('purpose', 'answer')), models.Q(models.Q(('purpose', 'answer'), _negated=True), ('condition', None), ('study', None)), _connector='OR'), name='a_run_that_answers_has_a_condition'),
        ),
    ]
