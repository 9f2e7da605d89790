"""A token knows the form that made it: sent again, it ends that token."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0006_invitation_form_key'),
    ]

    operations = [
        migrations.AddField(
            model_name='apitoken',
            name='form_key',
            field=models.UUIDField(db_index=True, null=True),
        ),
    ]
