"""The runs of imports of answers, and who read their reports."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0090_attempt_prompt_bytes'),
        ('questions', '0015_bank_version'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ImportedRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imported_runs', to='questions.importbatch')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='imported_by', to='evaluations.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('batch', 'run'), name='one_imported_run_per_batch')],
            },
        ),
        migrations.CreateModel(
            name='ImportReader',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('batch', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='readers', to='questions.importbatch')),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('batch', 'person'), name='one_reader_per_import')],
            },
        ),
    ]
