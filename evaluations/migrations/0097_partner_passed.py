"""Who came to a check while helping out and would have given the mark of its partner."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0096_checks_passed_by'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='PartnerPassed',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('helper', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('passed_with', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='evaluations.slot')),
                ('slot', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='partner_passed', to='evaluations.slot')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('slot', 'helper'), name='partner_passed_once_by_each_helper')],
            },
        ),
    ]
