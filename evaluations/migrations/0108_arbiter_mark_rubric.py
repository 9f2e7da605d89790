"""What a lead gave before seeing the other marks says under which rubric."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def fill(apps, schema_editor):
    """Take the rubric of the newest mark that the response had then: a new one needs new marks."""
    marks = apps.get_model("evaluations", "Mark").objects.filter(
        slot__answer=OuterRef("answer"), created_at__lte=OuterRef("created_at")
    )
    rubric = marks.order_by("-created_at", "-pk").values("rubric")[:1]
    apps.get_model("evaluations", "ArbiterMark").objects.update(rubric=Subquery(rubric))


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0107_end_calls_of_done_jobs"),
        ("questions", "0017_import_form_key"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint("arbitermark", "one_mark_before_seeing_per_lead"),
        migrations.AddField(
            "arbitermark",
            "rubric",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="arbiter_marks",
                to="questions.rubric",
            ),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
