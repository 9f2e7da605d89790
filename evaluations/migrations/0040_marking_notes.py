"""Call marking notes what everybody calls them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0032_entered_by'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameModel(old_name='HouseRuling', new_name='MarkingNotes'),
        migrations.RenameField(model_name='markinground', old_name='house_rulings', new_name='marking_notes'),
        migrations.RenameField(model_name='markinground', old_name='rulings_to_judge', new_name='notes_to_judge'),
        migrations.RemoveConstraint(model_name='markingnotes', name='one_ruling_per_number'),
        migrations.AddConstraint(
            model_name='markingnotes',
            constraint=models.UniqueConstraint(fields=('round', 'number'), name='one_notes_version_per_number'),
        ),
        migrations.AlterField(
            model_name='markingnotes',
            name='author',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='marking_notes', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AlterField(
            model_name='markingnotes',
            name='round',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='notes_versions', to='evaluations.markinground'),
        ),
        migrations.AlterField(
            model_name='markinground',
            name='marking_notes',
            field=models.TextField(blank=True, help_text='the newest version'),
        ),
    ]
