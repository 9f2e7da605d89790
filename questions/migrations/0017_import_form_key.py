"""An upload knows the form that made it: sent again, it makes no second one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('questions', '0016_import_refusals'),
    ]

    operations = [
        migrations.AddField(
            model_name='importbatch',
            name='form_key',
            field=models.UUIDField(editable=False, help_text='of the form that uploaded it', null=True, unique=True),
        ),
    ]
