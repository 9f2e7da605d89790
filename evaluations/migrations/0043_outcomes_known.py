"""Check the outcomes of readings and checks, and the status of judgements, in the database."""

from django.db import migrations, models

OUTCOMES = ["read", "no_answer", "ambiguous", "refused", "truncated"]
STATUSES = [
    *("scored", "over_full_marks", "below_zero", "several_totals", "unclear_total"),
    *("wrong_denominator", "no_total", "empty", "refused", "truncated", "no_content", "oversize"),
]
LISTS = [
    ("extraction", "extraction_outcome_known", {"outcome": [*OUTCOMES, "api_error"]}),
    ("modelreading", "model_reading_outcome_known", {"outcome": ["", *OUTCOMES]}),
    ("answercheck", "check_outcome_known", {"outcome": OUTCOMES}),
    ("judgement", "judgement_status_known", {"status": STATUSES}),
]


class Migration(migrations.Migration):

    dependencies = [
        ('evaluations', '0047_arbiter_marks'),
    ]

    operations = [
        migrations.AddConstraint(
            model_name=model,
            constraint=models.CheckConstraint(
                condition=models.Q(**{f"{field}__in": values for field, values in lists.items()}),
                name=name,
            ),
        )
        for model, name, lists in LISTS
    ]
