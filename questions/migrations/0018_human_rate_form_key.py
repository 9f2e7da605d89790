"""A human rate knows the form that added it: sent again, it adds no second one."""

from django.db import migrations, models

from questions.migrations import _bank_version


class Migration(migrations.Migration):

    dependencies = [
        ('questions', '0017_import_form_key'),
    ]

    operations = [
        migrations.AddField(
            model_name='humanrate',
            name='form_key',
            field=models.UUIDField(editable=False, help_text='of the form or request that added it', null=True, unique=True),
        ),
        migrations.RunPython(_bank_version.install, _bank_version.install),
    ]
