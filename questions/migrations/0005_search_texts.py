"""The texts that search looks in, made for every revision that is there already."""

import django.db.models.deletion
from django.db import migrations, models

from questions.rules.search_words import search_text

BLOCK = 500


def write_search_texts(apps, schema_editor):
    """In blocks: a bank may hold more text than should stand in memory at once."""
    revisions = apps.get_model("questions", "QuestionRevision").objects.order_by("pk")
    model = apps.get_model("questions", "SearchText")
    fields = ("pk", "passage", "stem", "options", "answer_key", "reference_answer", "analysis")
    block = []
    for pk, passage, stem, options, key, answer, analysis in revisions.values_list(
        *fields
    ).iterator(BLOCK):
        parts = [stem, passage, *options, " ".join(key), answer, analysis]
        block.append(model(revision_id=pk, text=search_text(parts)))
        if len(block) == BLOCK:
            model.objects.bulk_create(block)
            block = []
    model.objects.bulk_create(block)


class Migration(migrations.Migration):
    dependencies = [("questions", "0004_overtaken_labels")]

    operations = [
        migrations.CreateModel(
            name="SearchText",
            fields=[
                (
                    "revision",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        primary_key=True,
                        related_name="search",
                        serialize=False,
                        to="questions.questionrevision",
                    ),
                ),
                ("text", models.TextField()),
            ],
        ),
        migrations.RunPython(write_search_texts, migrations.RunPython.noop),
    ]
