"""Point to the rubric, the decision and the opinion that count, and store who proposed a rubric.

Until here each was found as the newest row, and the name of a model that proposed a rubric
stood behind "model:" in the rubric's source.
"""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Substr

SOURCES = [
    ("import", "Came with the questions"),
    ("person", "Written by a person"),
    ("file", "From a file"),
    ("proposal", "Proposed from the key"),
    ("model", "Proposed by a model"),
]
MODEL = "model:"


def split_sources(apps, schema_editor):
    rubrics = apps.get_model("questions", "Rubric").objects.all()
    by_model = rubrics.filter(source__startswith=MODEL)
    by_model.update(model_name=Substr("source", len(MODEL) + 1), source="model")
    known = [source for source, _ in SOURCES]
    rubrics.exclude(source__in=known).filter(created_by=None).update(source="import")
    rubrics.exclude(source__in=known).update(source="person")


def point_to_newest(apps, schema_editor):
    """Point to the rows that counted until here: the newest ones."""
    questions = apps.get_model("questions", "Question").objects.filter(rubrics__accepted=True)
    rubrics = apps.get_model("questions", "Rubric").objects.filter(accepted=True)
    of_question = rubrics.filter(question=models.OuterRef("pk")).order_by("-version")
    chosen = apps.get_model("questions", "Question").objects.filter(pk__in=questions.values("pk"))
    chosen.update(rubric=models.Subquery(of_question.values("pk")[:1]))
    decisions = apps.get_model("questions", "ItemDecision").objects.all()
    of_problem = decisions.filter(problem=models.OuterRef("pk")).order_by("-pk")
    problems = apps.get_model("questions", "ItemProblem").objects.all()
    problems.filter(pk__in=decisions.values("problem")).update(
        decision=models.Subquery(of_problem.values("pk")[:1])
    )
    opinions = apps.get_model("questions", "LabelOpinion").objects.all()
    before = {}
    changed = []
    for opinion in opinions.order_by("pk").only("question", "author", "model_name", "follows"):
        whose = opinion.question_id, opinion.author_id, opinion.model_name
        if whose in before:
            opinion.follows_id = before[whose]
            changed.append(opinion)
        before[whose] = opinion.pk
    opinions.bulk_update(changed, ["follows"], batch_size=500)
    # Check the changed rows now: PostgreSQL alters no table before.
    schema_editor.connection.check_constraints()


def pointer(model, name):
    return models.ForeignKey(
        null=True, on_delete=django.db.models.deletion.PROTECT, related_name=name, to=model
    )


class Migration(migrations.Migration):
    dependencies = [("questions", "0009_answer_uploads")]

    operations = [
        migrations.AddField("question", "rubric", pointer("questions.rubric", "counts_for")),
        migrations.AddField(
            "itemproblem", "decision", pointer("questions.itemdecision", "counts_for")
        ),
        migrations.AddField(
            "labelopinion",
            "follows",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="followed_by",
                to="questions.labelopinion",
            ),
        ),
        migrations.AddField("rubric", "model_name", models.CharField(blank=True, max_length=120)),
        migrations.RunPython(split_sources, migrations.RunPython.noop),
        migrations.RunPython(point_to_newest, migrations.RunPython.noop),
        migrations.AlterField(
            "rubric", "source", models.CharField(choices=SOURCES, max_length=8)
        ),
    ]
