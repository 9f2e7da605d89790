"""A round knows what the request asked for that made it with an idempotency key."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0102_work_refusals'),
    ]

    operations = [
        migrations.AddField(
            model_name='markinground',
            name='request_hash',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=64),
        ),
    ]
