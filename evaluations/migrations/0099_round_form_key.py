"""A round knows the form that made it: sent again, it makes no second one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0098_triggers_name_their_schema'),
    ]

    operations = [
        migrations.AddField(
            model_name='markinground',
            name='form_key',
            field=models.UUIDField(editable=False, help_text='of the form that made it', null=True, unique=True),
        ),
    ]
