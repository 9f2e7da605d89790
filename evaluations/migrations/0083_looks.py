"""Who saw models or marks, kept in a table of its own; what the audit trail has is copied."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


BATCH = 1000


def copy_looks(apps, schema_editor):
    """Copy the looks and exports that the audit trail has of rounds, and who pasted answers.

    Pages that are none of the round's own showed its responses, so they are looks at these.
    """
    look = apps.get_model("evaluations", "Look")
    answer = apps.get_model("evaluations", "BlindAnswer")
    rounds = set(apps.get_model("evaluations", "MarkingRound").objects.values_list("pk", flat=True))
    runs = set(apps.get_model("evaluations", "Run").objects.values_list("pk", flat=True))
    found = {}
    entries = apps.get_model("audit", "AuditEntry").objects.filter(
        tag__in=("round.looked_at", "report.exported", "answers.pasted"), actor__isnull=False
    )
    columns = entries.order_by("pk").values_list("tag", "actor", "target", "detail")
    for tag, person, target, detail in columns.iterator():
        kind, _colon, key = target.partition(":")
        if not key.isdecimal():
            continue
        if tag == "answers.pasted" and kind == "run" and int(key) in runs:
            found.setdefault((person, "run_id", int(key)), "pasted")
        elif tag != "answers.pasted" and kind == "markinground" and int(key) in rounds:
            where = "outside" if detail.get("outside") else "round"
            found.setdefault((person, where, int(key)), str(detail.get("page", "export"))[:40])
    for person, where, key in [one for one in found if one[1] == "outside"]:
        page = found.pop((person, where, key))
        for response in answer.objects.filter(round=key).values_list("response_id", flat=True):
            found.setdefault((person, "response_id", response), page)
    names = {"round": "round_id"}
    look.objects.bulk_create(
        (
            look(person_id=person, page=page, **{names.get(where, where): key})
            for (person, where, key), page in found.items()
        ),
        batch_size=BATCH,
    )


class Migration(migrations.Migration):

    dependencies = [
        ('audit', '0006_reads'),
        ('evaluations', '0082_batches_by_api'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Look',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('page', models.CharField(max_length=40)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('person', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('response', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='evaluations.response')),
                ('round', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='evaluations.markinground')),
                ('run', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='looks', to='evaluations.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('response__isnull', False)), fields=('response', 'person'), name='one_look_per_response_and_person'), models.UniqueConstraint(condition=models.Q(('run__isnull', False)), fields=('run', 'person'), name='one_look_per_run_and_person'), models.UniqueConstraint(condition=models.Q(('round__isnull', False)), fields=('round', 'person'), name='one_look_per_round_and_person'), models.CheckConstraint(condition=models.Q(models.Q(('response__isnull', False), ('round', None), ('run', None)), models.Q(('response', None), ('round', None), ('run__isnull', False)), models.Q(('response', None), ('round__isnull', False), ('run', None)), _connector='OR'), name='look_at_one_thing')],
            },
        ),
        migrations.RunPython(copy_looks, migrations.RunPython.noop),
    ]
