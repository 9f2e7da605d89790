"""The words for usage that cannot be right, and the places for checks of endpoints."""

import django.db.models.deletion
from django.db import migrations, models

USAGES = [
    ("complete", "Complete"),
    ("missing", "Usage missing: the reserved amount stands"),
    ("odd", "Usage cannot be right: the most that the call can cost stands"),
    ("reported", "Usage missing: the provider's cost counts"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0100_history_of_marks_is_new'),
    ]

    operations = [
        migrations.AlterField(
            model_name='attempt',
            name='usage',
            field=models.CharField(blank=True, choices=USAGES, db_default='', default='', max_length=8),
        ),
        migrations.CreateModel(
            name='CheckPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(unique=True)),
                ('holder', models.CharField(blank=True, max_length=32)),
                ('until', models.DateTimeField(null=True)),
                ('endpoint', models.OneToOneField(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='check_place', to='evaluations.endpoint')),
            ],
        ),
    ]
