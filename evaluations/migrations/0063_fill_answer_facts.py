"""Copy the facts of the answers that are stored already, by the statements of that day."""

import json
from statistics import mean

from django.db import migrations
from django.db.models import FloatField, TextField
from django.db.models.functions import Cast

NAMES = """response_id, run_id, question_id, revision_id, repeat, full_marks, images_omitted, marker,
    giver, policy, points, outcome, reason, counts, is_message, key_revision_id, read,
    option_order, source"""
RESPONSE = """response.id, response.run_id, response.question_id, response.revision_id,
    response.repeat, CAST(revision.full_marks AS DOUBLE PRECISION), response.images_omitted > 0"""
ANSWERS = """evaluations_response AS response
    JOIN evaluations_run AS run ON run.id = response.run_id AND run.purpose = 'answer'
    JOIN questions_question AS question ON question.id = response.question_id
    JOIN questions_questionrevision AS revision ON revision.id = response.revision_id"""
NOTHING_READ = "CAST(NULL AS BIGINT), CAST(NULL AS TEXT), ''"
NEWER = """EXISTS (SELECT 1 FROM evaluations_blindanswer AS other
    JOIN evaluations_markinground AS held ON held.id = other.round_id AND NOT held.practice
    WHERE other.response_id = response.id AND other.final_id > {than})"""
MESSAGE = "response.is_error_text AND COALESCE(reading.method, '') NOT IN ('model', 'person')"


def scores(policy, message):
    return f"""SELECT {RESPONSE}, 'key', 0, '{policy}', CAST(score.points AS DOUBLE PRECISION),
        COALESCE(score.outcome, 'not_scored'),
        CASE WHEN score.id IS NULL THEN 'not_scored' ELSE '' END, TRUE, {message},
        score.key_revision_id, CAST(reading.answers AS TEXT), response.option_order,
        COALESCE(score.id, 0)
    FROM {ANSWERS}
    LEFT JOIN evaluations_objectivescore AS score ON score.id = response.{policy}_score_id
    LEFT JOIN evaluations_extraction AS reading ON reading.id = score.extraction_id
    WHERE question.part = 'objective'"""


ROWS = (
    scores("published", "FALSE"),
    scores("strict", MESSAGE),
    f"""SELECT {RESPONSE}, 'teachers', 0, '', CAST(NULL AS DOUBLE PRECISION), 'not_scored',
        'unmarked', NOT {NEWER.format(than=0)}, response.is_error_text, {NOTHING_READ}, 0
    FROM {ANSWERS} WHERE question.part = 'subjective'""",
    f"""SELECT {RESPONSE}, 'teachers', marked.round_id, '',
        CAST(final.value AS DOUBLE PRECISION), '', '', NOT {NEWER.format(than="final.id")},
        response.is_error_text, {NOTHING_READ}, final.id
    FROM {ANSWERS}
    JOIN evaluations_blindanswer AS marked ON marked.response_id = response.id
    JOIN evaluations_markinground AS round ON round.id = marked.round_id AND NOT round.practice
    JOIN evaluations_finalmark AS final ON final.id = marked.final_id
    WHERE question.part = 'subjective'""",
    f"""SELECT {RESPONSE}, 'judge', judgement.judge_id,
        CASE WHEN CAST(judgement.released AS TEXT) = '[]' THEN '' ELSE 'strict' END,
        CAST(judgement.total AS DOUBLE PRECISION),
        CASE WHEN judgement.total IS NULL THEN 'not_scored' ELSE '' END,
        CASE WHEN judgement.total IS NULL THEN judgement.status ELSE '' END,
        TRUE, response.is_error_text, {NOTHING_READ}, judgement.id
    FROM {ANSWERS}
    JOIN evaluations_judgement AS judgement
        ON judgement.response_id = response.id AND judgement.sample = 1
    LEFT JOIN evaluations_judgement AS later ON later.follows_id = judgement.id
    WHERE question.part = 'subjective' AND later.id IS NULL""",
)
COPIED = ("response", "response__run", "response__question", "response__revision")


def fill(apps, schema_editor):
    """Copy the rows of all answers: one statement each, and the judgements with released totals."""
    if not apps.get_model("evaluations", "Response").objects.exists():
        return
    for rows in ROWS:
        schema_editor.execute(f"INSERT INTO evaluations_answerfact ({NAMES}) {rows}", params=None)
    fact_model = apps.get_model("evaluations", "AnswerFact")
    judgements = apps.get_model("evaluations", "Judgement")
    released = judgements.objects.filter(
        followed_by=None, sample=1, response__run__purpose="answer", response__question__part="subjective"
    ).exclude(released=[])
    values = released.values_list(
        *("pk", "judge", *COPIED, "response__repeat", "response__is_error_text"),
        *("response__images_omitted", "status", Cast("total", FloatField())),
        *(Cast("released", TextField()), Cast("response__revision__full_marks", FloatField())),
    )
    facts = []
    for source, judge, *of, repeat, message, omitted, status, total, given, full in values:
        marks = [mark for mark in json.loads(given) if mark is not None]
        points = round(mean(marks), 2) if marks else total
        facts.append(
            fact_model(
                **dict(zip(("response_id", "run_id", "question_id", "revision_id"), of, strict=True)),
                repeat=repeat,
                full_marks=full,
                images_omitted=omitted > 0,
                marker="judge",
                giver=judge,
                policy="published",
                points=points,
                outcome="" if points is not None else "not_scored",
                reason="" if points is not None else status,
                counts=True,
                is_message=message,
                source=source,
            )
        )
    fact_model.objects.bulk_create(facts, batch_size=500)


class Migration(migrations.Migration):
    dependencies = [("evaluations", "0062_answer_facts")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
