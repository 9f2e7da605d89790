"""Which suggestion an opinion was given with, and whether anything was shown after it."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def name_suggestions(apps, schema_editor):
    """Let opinions from before name the newest suggestion of their item, as they counted for it."""
    LabelOpinion = apps.get_model("questions", "LabelOpinion")
    suggestions = LabelOpinion.objects.exclude(model_name="").filter(
        question=OuterRef("question"), pk__lt=OuterRef("pk")
    )
    people = LabelOpinion.objects.filter(author__isnull=False, seen_suggestion=True)
    named = people.annotate(newest=Subquery(suggestions.order_by("-pk").values("pk")[:1]))
    for opinion in named.exclude(newest=None).iterator():
        LabelOpinion.objects.filter(pk=opinion.pk).update(suggestion=opinion.newest)


class Migration(migrations.Migration):
    dependencies = [("questions", "0020_label_opinion_restores")]

    operations = [
        migrations.AddField(
            model_name="labelopinion",
            name="suggestion",
            field=models.ForeignKey(
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="questions.labelopinion",
            ),
        ),
        migrations.AddField(
            model_name="labelopinion",
            name="shown_since",
            field=models.BooleanField(null=True),
        ),
        migrations.RunPython(name_suggestions, migrations.RunPython.noop),
    ]
