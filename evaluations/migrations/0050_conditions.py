"""Conditions of runs, prompt sets, studies, and jobs of several steps."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0043_outcomes_known'),
        ('questions', '0014_images_written_anew'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Condition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('origin', models.CharField(choices=[('asked', 'Asked here'), ('imported', 'Imported')], max_length=8)),
                ('setting', models.CharField(blank=True, choices=[('zero-shot', 'Zero-shot'), ('zero-shot-cot', 'Zero-shot, chain of thought'), ('few-shot', 'Few-shot'), ('few-shot-cot', 'Few-shot, chain of thought')], max_length=14)),
                ('settings', models.JSONField(default=dict)),
                ('fingerprint', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='PromptSet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.CharField(max_length=60, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['slug'],
            },
        ),
        migrations.CreateModel(
            name='PromptSetVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.JSONField()),
                ('content_hash', models.CharField(max_length=64)),
                ('source', models.CharField(choices=[('shipped', 'With the project'), ('imported', 'Imported'), ('edited', 'Edited here')], max_length=8)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='StepReply',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(blank=True)),
                ('reasoning', models.TextField(blank=True)),
                ('finish_reason', models.CharField(blank=True, max_length=40)),
            ],
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('choice', models.JSONField(default=dict)),
                ('budget', models.DecimalField(blank=True, decimal_places=4, max_digits=12, null=True)),
                ('currency', models.CharField(max_length=3)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['-id'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='job',
            name='one_job_per_question_and_repeat',
        ),
        migrations.RemoveConstraint(
            model_name='job',
            name='job_status_known',
        ),
        migrations.AddField(
            model_name='attempt',
            name='examples_used',
            field=models.PositiveSmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='attempt',
            name='params',
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='max_temperature',
            field=models.FloatField(default=2.0),
        ),
        migrations.AddField(
            model_name='endpoint',
            name='takes_images',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='job',
            name='step',
            field=models.PositiveSmallIntegerField(default=1),
        ),
        migrations.AddField(
            model_name='job',
            name='waits_for',
            field=models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='next_step', to='evaluations.job'),
        ),
        migrations.AddField(
            model_name='response',
            name='images_omitted',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='response',
            name='images_sent',
            field=models.PositiveSmallIntegerField(default=0),
        ),
        migrations.AddField(
            model_name='response',
            name='option_order',
            field=models.CharField(blank=True, max_length=26),
        ),
        migrations.AlterField(
            model_name='job',
            name='status',
            field=models.CharField(choices=[('pending', 'Pending'), ('waiting', 'Waiting for the first step'), ('leased', 'In flight'), ('done', 'Done'), ('failed', 'Failed')], default='pending', max_length=8),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(('status__in', ['pending', 'waiting', 'leased', 'done', 'failed'])), name='job_status_known'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.UniqueConstraint(fields=('run', 'question', 'repeat', 'step'), name='one_job_per_question_repeat_and_step'),
        ),
        migrations.AddConstraint(
            model_name='job',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('step', 1), ('waits_for', None)), models.Q(('step__gt', 1), ('waits_for__isnull', False)), _connector='OR'), name='a_later_step_waits_for_the_one_before'),
        ),
        migrations.AddField(
            model_name='condition',
            name='language_model',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conditions', to='evaluations.languagemodel'),
        ),
        migrations.AddField(
            model_name='run',
            name='condition',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='evaluations.condition'),
        ),
        migrations.AddField(
            model_name='promptsetversion',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='prompt_sets', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='promptsetversion',
            name='prompt_set',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to='evaluations.promptset'),
        ),
        migrations.AddField(
            model_name='promptset',
            name='current',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='current_of', to='evaluations.promptsetversion'),
        ),
        migrations.AddField(
            model_name='condition',
            name='prompts',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='conditions', to='evaluations.promptsetversion'),
        ),
        migrations.AddField(
            model_name='stepreply',
            name='attempt',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='step_reply', to='evaluations.attempt'),
        ),
        migrations.AddField(
            model_name='stepreply',
            name='job',
            field=models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='step_reply', to='evaluations.job'),
        ),
        migrations.AddField(
            model_name='study',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='studies', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='study',
            name='dataset',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='studies', to='questions.dataset'),
        ),
        migrations.AddField(
            model_name='run',
            name='study',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='evaluations.study'),
        ),
        migrations.AddConstraint(
            model_name='promptsetversion',
            constraint=models.CheckConstraint(condition=models.Q(('source__in', ['shipped', 'imported', 'edited'])), name='prompt_set_version_source_known'),
        ),
        migrations.AddConstraint(
            model_name='promptsetversion',
            constraint=models.UniqueConstraint(fields=('prompt_set', 'number'), name='one_prompt_set_version_per_number'),
        ),
        migrations.AddConstraint(
            model_name='promptsetversion',
            constraint=models.UniqueConstraint(fields=('prompt_set', 'content_hash'), name='one_prompt_set_version_per_content'),
        ),
        migrations.AddConstraint(
            model_name='condition',
            constraint=models.CheckConstraint(condition=models.Q(('origin__in', ['asked', 'imported']), ('setting__in', ['', 'zero-shot', 'zero-shot-cot', 'few-shot', 'few-shot-cot'])), name='condition_lists_known'),
        ),
        migrations.AddConstraint(
            model_name='condition',
            constraint=models.UniqueConstraint(fields=('language_model', 'name'), name='one_condition_per_model_and_name'),
        ),
        migrations.AddConstraint(
            model_name='condition',
            constraint=models.CheckConstraint(condition=models.Q(('origin', 'imported'), ('prompts__isnull', False), _connector='OR'), name='an_asked_condition_has_prompts'),
        ),
    ]
