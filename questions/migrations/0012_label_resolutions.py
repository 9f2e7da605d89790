"""A difference of curators is resolved: call the row so."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('questions', '0011_closed_lists'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameModel(old_name='LabelSettlement', new_name='LabelResolution'),
        migrations.AlterField(
            model_name='labelresolution',
            name='question',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='label_resolutions', to='questions.question'),
        ),
        migrations.AlterField(
            model_name='labelresolution',
            name='last_opinion',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='resolved_up_to', to='questions.labelopinion'),
        ),
        migrations.AlterField(
            model_name='labelresolution',
            name='author',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='label_resolutions', to=settings.AUTH_USER_MODEL),
        ),
    ]
