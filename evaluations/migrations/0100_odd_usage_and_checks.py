"""The words for usage that cannot be right."""

from django.db import migrations, models

USAGES = [
    ("complete", "Complete"),
    ("missing", "Usage missing: the reserved amount stands"),
    ("odd", "Usage cannot be right: the most that the call can cost stands"),
    ("reported", "Usage missing: the provider's cost counts"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0099_round_form_key'),
    ]

    operations = [
        migrations.AlterField(
            model_name='attempt',
            name='usage',
            field=models.CharField(blank=True, choices=USAGES, db_default='', default='', max_length=8),
        ),
    ]
