"""Add the preference "advance after a digit"; keys that people chose stay theirs.

"m" and "o" are new default keys. Whoever uses one of them for another action gets no
default key for the new action, so that one key never means two things.
"""

from django.db import migrations, models

NEW_DEFAULTS = {"full": "m", "zero": "o"}


def keep_chosen_keys(apps, schema_editor):
    """Leave a new action without a key where its default key is taken."""
    settings = apps.get_model("evaluations", "DeskSettings").objects
    for chosen in settings.exclude(keys={}).iterator():
        taken = set(chosen.keys.values())
        without = {action: "" for action, key in NEW_DEFAULTS.items() if key in taken}
        if without:
            settings.filter(pk=chosen.pk).update(keys=without | chosen.keys)


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0018_attempt_shows_rubric")]

    operations = [
        migrations.AddField("desksettings", "advance", models.BooleanField(default=False)),
        migrations.RunPython(keep_chosen_keys, migrations.RunPython.noop),
    ]
