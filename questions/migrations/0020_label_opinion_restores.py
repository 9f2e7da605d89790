import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('questions', '0019_dataset_uncompared'),
    ]

    operations = [
        migrations.AddField(
            model_name='labelopinion',
            name='restores',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='questions.labelopinion'),
        ),
    ]
