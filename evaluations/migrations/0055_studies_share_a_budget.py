"""The budget of a study is one number that the workers of all its runs change."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0056_images_and_option_order_of_attempts'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='run',
            name='run_lists_known',
        ),
        migrations.AddField(
            model_name='study',
            name='committed',
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(('pause_reason__in', ['', 'auth', 'quota', 'not_found', 'redirect', 'budget', 'study_budget', 'endpoint_down', 'asked_to_wait', 'no_key', 'address', 'endpoint_changed']), ('purpose__in', ['answer', 'judge', 'suggest', 'read']), ('status__in', ['queued', 'running', 'stopping', 'stopped', 'paused', 'finished', 'imported'])), name='run_lists_known'),
        ),
    ]
