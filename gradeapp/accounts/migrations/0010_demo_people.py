"""A column for the people of the demo, and who of those that exist still has the known password."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.hashers import check_password
from django.db import migrations, models

NAMES = ("admin", "curator", "lead", "teacher1", "teacher2")


def mark_demo_people(apps: Any, schema_editor: Any) -> None:
    """Mark those whose password is that of the demo; others of these names are real people."""
    people = apps.get_model("accounts", "User").objects.using(schema_editor.connection.alias)
    for person in people.filter(username__in=NAMES):
        if check_password(f"{person.username}-demo", person.password):
            people.filter(pk=person.pk).update(is_demo=True)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_guesscount")]

    operations = [
        migrations.AddField(
            model_name="user",
            name="is_demo",
            field=models.BooleanField(
                default=False,
                editable=False,
                help_text=(
                    "The password is public: may log in while the demo runs, never elsewhere."
                ),
                verbose_name="person of the demo",
            ),
        ),
        migrations.RunPython(mark_demo_people, migrations.RunPython.noop, elidable=True),
    ]
