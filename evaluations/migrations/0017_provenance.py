"""Store what readings and scores rest on in columns, and point to the scores that count.

Until here both were packed into one text such as ``strict-3+objective-2+p12+key40``,
where ``+p12`` was the decision 12 about patterns or the check 12 by a person.
"""

import re

import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Coalesce

PERSON = "person"
RULES = ("gaokao-bench", "agieval", "agibench")
PART = re.compile(r"\+(key|p|m)(\d+)$")


def parsed(version):
    """Return the text before the parts that name rows, and these parts by their letter."""
    parts = {}
    while match := PART.search(version):
        parts[match.group(1)] = int(match.group(2))
        version = version[: match.start()]
    return version, parts


def rows_of(parts, by_person):
    """Return the columns for *parts*; ``p`` names a check where people decided."""
    return {
        "patterns_id": None if by_person else parts.get("p"),
        "answer_check_id": parts.get("p") if by_person else None,
        "model_reading_id": parts.get("m"),
    }


def split_versions(apps, schema_editor):
    extractions = apps.get_model("evaluations", "Extraction").objects.all()
    scores = apps.get_model("evaluations", "ObjectiveScore").objects.all()
    # Scores first: the text of its extraction tells whether a score names a check.
    for version in list(scores.order_by().values_list("reader_version", flat=True).distinct()):
        named, parts = parsed(version)
        reader, _, scorer = named.partition("+")
        kept = {
            "reader_version": reader,
            "scorer_version": scorer,
            "published_rules": next((one for one in RULES if reader.startswith(f"{one}-")), ""),
            "key_revision_id": parts.get("key"),
        }
        rows = scores.filter(reader_version=version)
        if "p" in parts:
            of_patterns = rows.filter(
                extraction__reader_version__endswith=f"+p{parts['p']}"
            ).exclude(extraction__method=PERSON)
            ids = list(of_patterns.values_list("pk", flat=True))
            for at in range(0, len(ids), 500):
                some = scores.filter(pk__in=ids[at : at + 500])
                some.update(**kept, **rows_of(parts, by_person=False))
        rows.update(**kept, **rows_of(parts, by_person="p" in parts))
    packed = extractions.filter(reader_version__contains="+").order_by()
    for version in list(packed.values_list("reader_version", flat=True).distinct()):
        reader, parts = parsed(version)
        rows = extractions.filter(reader_version=version)
        rows.filter(method=PERSON).update(reader_version=reader, **rows_of(parts, by_person=True))
        rows.exclude(method=PERSON).update(reader_version=reader, **rows_of(parts, by_person=False))
    point_to_newest(apps)
    # Check the changed rows now: PostgreSQL alters no table before.
    schema_editor.connection.check_constraints()


def point_to_newest(apps):
    """Point each response to its newest score of each policy, which is the one that counted."""
    scores = apps.get_model("evaluations", "ObjectiveScore").objects.all()
    responses = apps.get_model("evaluations", "Response").objects.all()
    for policy in ("strict", "published"):
        newest = (
            scores.filter(response=models.OuterRef("pk"), policy=policy)
            .order_by("-pk")
            .values("pk")[:1]
        )
        responses.update(**{f"{policy}_score": models.Subquery(newest)})


def to(model):
    return models.ForeignKey(
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=model,
    )


def pointer():
    return models.OneToOneField(
        editable=False,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to="evaluations.objectivescore",
    )


def nothing_or(name):
    return Coalesce(name, 0, output_field=models.BigIntegerField())


DECIDING = {
    "patterns": "evaluations.patterndecision",
    "model_reading": "evaluations.modelreading",
    "answer_check": "evaluations.answercheck",
}


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0014_practice_rounds"),
        ("questions", "0008_gold_unread"),
    ]

    operations = [
        migrations.RemoveConstraint("extraction", "one_extraction_per_version"),
        migrations.RemoveConstraint("objectivescore", "one_score_per_version"),
        migrations.RemoveIndex("objectivescore", "score_by_policy"),
        migrations.RenameField("extraction", "version", "reader_version"),
        migrations.RenameField("objectivescore", "version", "reader_version"),
        *(
            migrations.AddField(name, column, to(model))
            for name in ("extraction", "objectivescore")
            for column, model in DECIDING.items()
        ),
        migrations.AddField("objectivescore", "key_revision", to("questions.questionrevision")),
        migrations.AddField(
            "objectivescore", "published_rules", models.CharField(blank=True, max_length=20)
        ),
        migrations.AddField(
            "objectivescore",
            "scorer_version",
            models.CharField(default="", max_length=20),
            preserve_default=False,
        ),
        migrations.AddField("response", "published_score", pointer()),
        migrations.AddField("response", "strict_score", pointer()),
        migrations.RunPython(split_versions, migrations.RunPython.noop),
        migrations.AlterField("objectivescore", "reader_version", models.CharField(max_length=20)),
        migrations.AddIndex(
            "objectivescore",
            models.Index(
                fields=["policy", "reader_version", "scorer_version"], name="score_by_versions"
            ),
        ),
        migrations.AddConstraint(
            "extraction",
            models.UniqueConstraint(
                *map(models.F, ("response", "policy", "reader_version")),
                *map(nothing_or, DECIDING),
                name="one_extraction_per_provenance",
            ),
        ),
        migrations.AddConstraint(
            "objectivescore",
            models.UniqueConstraint(
                *map(models.F, ("response", "policy", "reader_version", "scorer_version")),
                models.F("published_rules"),
                *map(nothing_or, (*DECIDING, "key_revision")),
                name="one_score_per_provenance",
            ),
        ),
    ]
