"""Reviews and samples of checks know their forms: sent again, none makes a second one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0105_held_is_not_passed'),
    ]

    operations = [
        migrations.AddField(
            model_name='capabilityreview',
            name='form_key',
            field=models.UUIDField(editable=False, help_text='of the form that opened it', null=True, unique=True),
        ),
        migrations.AddField(
            model_name='checksample',
            name='form_key',
            field=models.UUIDField(editable=False, help_text='of the form or request that drew it', null=True, unique=True),
        ),
    ]
