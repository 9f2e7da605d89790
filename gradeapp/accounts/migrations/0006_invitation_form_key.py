"""An invitation knows the form that made it: sent again, it makes no second one."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_guesscount_pending'),
    ]

    operations = [
        migrations.AddField(
            model_name='accesslink',
            name='form_key',
            field=models.UUIDField(db_index=True, null=True),
        ),
    ]
