"""Store the marks that a final mark was made from as rows, and check the lists of marking.

The list of their ids was JSON until here.
"""

import django.db.models.deletion
from django.db import migrations, models

from evaluations.migrations._mark_history import install, remove

RULES = [
    ("single mark", "Single mark"),
    ("mean of two", "Mean of two"),
    ("mean of closest pair (1 and 3)", "Mean of closest pair (1 and 3)"),
    ("mean of closest pair (2 and 3)", "Mean of closest pair (2 and 3)"),
    ("third mark midway", "Third mark midway"),
    ("arbitration", "Arbitration"),
    ("reference mark", "Reference mark"),
]
SCHEMES = [
    ("1", "One teacher"),
    ("mean", "Two teachers, always the mean"),
    ("2+1", "Two teachers, then the lead"),
    ("2+1+1", "Two teachers, a third, then the lead"),
]
REASONS = ["", "rubric_silent", "slip", "generous_reading", "strict_reading", "answer_key_wrong"]
KINDS = ["first", "second", "third", "arbitration", "seed", "repeat"]
# Model, field, its values, the name of the constraint.
LISTS = [
    ("blindanswer", "role", ["answer", "seed", "repeat"], "answer_role_known"),
    ("slot", "kind", KINDS, "slot_kind_known"),
    ("mark", "reason", REASONS, "mark_reason_known"),
    ("finalmark", "rule", [value for value, _name in RULES], "final_rule_known"),
    ("markinground", "status", ["planned", "open", "paused", "closed"], "round_status_known"),
    ("markinground", "scheme", [value for value, _name in SCHEMES], "round_scheme_known"),
]


def add_sources(apps, schema_editor):
    """Make one row of each id in the stored lists."""
    source = apps.get_model("evaluations", "FinalMarkSource")
    finals = apps.get_model("evaluations", "FinalMark").objects.order_by("pk")
    rows = (
        source(final_id=final, mark_id=mark, place=place)
        for final, marks in finals.values_list("pk", "mark_ids").iterator()
        for place, mark in enumerate(marks, start=1)
    )
    source.objects.bulk_create(rows, batch_size=500)
    # Check the new rows now: PostgreSQL alters no table before.
    schema_editor.connection.check_constraints()


def list_sources(apps, schema_editor):
    """Write the rows back into lists."""
    finals = apps.get_model("evaluations", "FinalMark").objects.order_by("pk")
    for final in finals.iterator():
        final.mark_ids = list(final.sources.order_by("place").values_list("mark", flat=True))
        final.save(update_fields=["mark_ids"])
    schema_editor.connection.check_constraints()


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0019_desk_advance")]

    operations = [
        # The triggers name every column, and SQLite makes the tables anew without triggers.
        migrations.RunPython(remove, install),
        migrations.CreateModel(
            "FinalMarkSource",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("place", models.PositiveSmallIntegerField()),
                (
                    "final",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="sources",
                        to="evaluations.finalmark",
                    ),
                ),
                (
                    "mark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="evaluations.mark",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["final", "mark"], name="final_names_a_mark_once"),
                    models.UniqueConstraint(fields=["final", "place"], name="one_source_per_place"),
                    models.CheckConstraint(
                        condition=models.Q(place__gte=1, place__lte=3), name="at_most_three_sources"
                    ),
                ]
            },
        ),
        migrations.RenameField("finalmark", "marks", "mark_ids"),
        migrations.RunPython(add_sources, list_sources),
        migrations.RemoveField("finalmark", "mark_ids"),
        migrations.AddField(
            "finalmark",
            "marks",
            models.ManyToManyField(
                related_name="finals", through="evaluations.FinalMarkSource", to="evaluations.mark"
            ),
        ),
        migrations.AlterField(
            "finalmark", "rule", models.CharField(choices=RULES, max_length=40)
        ),
        migrations.AlterField(
            "markinground", "scheme", models.CharField(choices=SCHEMES, max_length=6)
        ),
        *(
            migrations.AddConstraint(
                model,
                models.CheckConstraint(
                    condition=models.Q((f"{field}__in", values)), name=name
                ),
            )
            for model, field, values, name in LISTS
        ),
        migrations.RunPython(install, remove),
    ]
