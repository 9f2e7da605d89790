"""Brings what is stored into the columns and tables of the marking room."""

from django.db import migrations, models


def point_to_finals(apps, schema_editor):
    """Let each blind answer name the final mark that counts: its newest one."""
    answers = apps.get_model("evaluations", "BlindAnswer")
    finals = apps.get_model("evaluations", "FinalMark").objects
    newest = finals.filter(answer=models.OuterRef("pk")).order_by("-number")
    answers.objects.update(final=models.Subquery(newest.values("pk")[:1]))


def keep_rulings(apps, schema_editor):
    """The rulings that rounds have already become their first versions."""
    rounds = apps.get_model("evaluations", "MarkingRound").objects.exclude(house_rulings="")
    rulings = apps.get_model("evaluations", "HouseRuling").objects
    rulings.bulk_create(
        rulings.model(round=one, number=1, text=one.house_rulings, author_id=one.created_by_id)
        for one in rounds
    )


class Migration(migrations.Migration):

    dependencies = [("evaluations", "0005_marking_room")]

    operations = [
        migrations.RunPython(point_to_finals, migrations.RunPython.noop),
        migrations.RunPython(keep_rulings, migrations.RunPython.noop),
    ]
