"""Marks imported responses that are a program's message instead of an answer.

Their scores are made anew by ``manage.py score --all``, or by *Rescoring* on the page.
"""

from django.db import migrations, models
from django.db.models.functions import Length

from evaluations.reading.rules.scoring.error_texts import MOST_OF_A_PAGE, is_error_text

BATCH = 1_000


def mark(apps, schema_editor):
    responses = apps.get_model("evaluations", "Response").objects.using(schema_editor.connection.alias)
    imported = responses.filter(attempt__isnull=True).annotate(length=Length("text"))
    # White space around a message does not count, so a text may be somewhat longer.
    rows = imported.filter(length__gt=0, length__lte=2 * MOST_OF_A_PAGE).order_by("pk")
    last = 0
    while batch := list(rows.filter(pk__gt=last).values_list("pk", "text")[:BATCH]):
        last = batch[-1][0]
        found = [pk for pk, text in batch if is_error_text(text)]
        responses.filter(pk__in=found).update(is_error_text=True)


class Migration(migrations.Migration):

    dependencies = [
        ("evaluations", "0011_rescorings"),
    ]

    operations = [
        migrations.AddField(
            model_name="response",
            name="is_error_text",
            field=models.BooleanField(default=False),
        ),
        migrations.RunPython(mark, migrations.RunPython.noop),
    ]
