"""A code for problems that people report."""

from django.db import migrations, models

CODES = [
    ("key_outside_options", "Answer key not among the options"),
    ("several_letters", "Several answer keys where one is expected"),
    ("key_count", "Answer keys and sub-questions differ in number"),
    ("empty_key", "Empty answer key"),
    ("empty_options", "Empty options"),
    ("repeated_options", "Repeated options"),
    ("key_against_analysis", "Answer key contradicts its analysis"),
    ("missing_figure", "Missing figure"),
    ("exact_duplicate", "Exact duplicate"),
    ("near_duplicate", "Near duplicate"),
    ("conflicting_key", "Same question with different answer keys"),
    ("rubric_sum", "Rubric and full marks differ"),
    ("gold_unread", "Answer key does not score as correct"),
    ("reported", "Reported by a person"),
]


class Migration(migrations.Migration):
    dependencies = [
        ("questions", "0021_label_opinion_shown"),
    ]

    operations = [
        migrations.RemoveConstraint("itemproblem", "problem_code_known"),
        migrations.AlterField(
            "itemproblem", "code", models.CharField(choices=CODES, max_length=32)
        ),
        migrations.AddConstraint(
            "itemproblem",
            models.CheckConstraint(
                condition=models.Q(code__in=[code for code, _name in CODES]),
                name="problem_code_known",
            ),
        ),
    ]
