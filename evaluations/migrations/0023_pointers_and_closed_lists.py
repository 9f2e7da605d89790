"""Point to the readings, judgements and decisions that count, and check the closed lists.

Until here what counts was found as the newest row. No table is sorted by a foreign key any more.
"""

import django.db.models.deletion
from django.db import migrations, models

TYPES = [
    *("single_choice", "multi_choice", "multi_question_choice", "five_out_of_seven"),
    *("exact_answer", "cloze", "correction", "subjective"),
]
POLICIES = ["published", "strict"]
OUTCOMES = [
    *("correct", "partial", "wrong", "no_answer", "ambiguous", "refused", "truncated"),
    *("api_error", "not_scored", "excluded"),
]
SOURCES = ["model", "ambiguous", "low", "sample", "unread", "second", "differ"]
WORK = ["queued", "working", "stopped", "interrupted", "failed", "done"]
RUN = {
    "purpose": ["answer", "judge", "suggest", "read"],
    "status": ["queued", "running", "stopping", "stopped", "paused", "finished", "imported"],
    "pause_reason": [
        *("", "auth", "quota", "not_found", "redirect", "budget", "endpoint_down"),
        *("asked_to_wait", "no_key", "address", "endpoint_changed"),
    ],
}
# Model, name of the constraint, the values of each field.
LISTS = [
    ("answercheck", "check_source_known", {"source": SOURCES}),
    ("attempt", "attempt_status_known", {"status": ["sent", "answered", "error", "unknown"]}),
    (
        "capabilityreview",
        "review_lists_known",
        {"status": ["open", "closed"], "policy": POLICIES},
    ),
    ("extraction", "extraction_policy_known", {"policy": POLICIES}),
    ("job", "job_status_known", {"status": ["pending", "leased", "done", "failed"]}),
    ("minedpattern", "pattern_type_known", {"question_type": TYPES}),
    (
        "objectivescore",
        "score_lists_known",
        {
            "policy": POLICIES,
            "published_rules": ["", "gaokao-bench", "agieval", "agibench"],
            "outcome": OUTCOMES,
        },
    ),
    ("patterndecision", "pattern_verdict_known", {"verdict": ["accepted", "retired"]}),
    ("patternsearch", "pattern_search_status_known", {"status": WORK}),
    ("rescoring", "rescoring_lists_known", {"status": WORK, "policy": ["", *POLICIES]}),
    ("run", "run_lists_known", RUN),
    ("suggestionreading", "suggestion_asks_known", {"asks": ["labels", "rubric"]}),
]
ORDERS = {
    "answercheck": ["id"],
    "attempt": ["number", "id"],
    "blindanswer": ["id"],
    "capabilityjudgement": ["version", "id"],
    "extraction": ["id"],
    "finalmark": ["number", "id"],
    "houseruling": ["number", "id"],
    "job": ["id"],
    "judgement": ["id"],
    "mark": ["version", "id"],
    "minedpattern": ["question_type", "number", "version", "id"],
    "modelreading": ["id"],
    "objectivescore": ["id"],
    "pointmark": ["id"],
    "response": ["id"],
    "reviewitem": ["id"],
    "reviewslot": ["place", "id"],
    "seedanswer": ["id"],
    "slot": ["id"],
}
WITH_ENDPOINT = models.Q(endpoint__isnull=False)
OF_NO_RUN = models.Q(judge=None, judged_run=None)
NEEDS = (
    models.Q(OF_NO_RUN, WITH_ENDPOINT | models.Q(status="imported"), purpose="answer")
    | models.Q(OF_NO_RUN, WITH_ENDPOINT, purpose="suggest")
    | models.Q(WITH_ENDPOINT, purpose="judge", judge__isnull=False, judged_run__isnull=False)
    | models.Q(WITH_ENDPOINT, purpose="read", judge=None, judged_run__isnull=False)
)


def newest(rows, parent, order="-pk"):
    """Return the key of the newest of *rows* of each *parent*."""
    own = rows.filter(**{parent: models.OuterRef("pk")}).order_by(order)
    return models.Subquery(own.values("pk")[:1])


def point_to_newest(apps, schema_editor):
    """Point to the rows that counted until here."""

    def rows(name):
        return apps.get_model("evaluations", name).objects.all()

    by_rules = rows("Extraction").filter(policy="strict").exclude(method__in=["model", "person"])
    rows("Response").update(rule_reading=newest(by_rules, "response"))
    taken = rows("ModelReading").filter(status="taken")
    found = taken.filter(outcome="read")
    for some in (taken, found):  # one that found an answer counts before the others
        rows("Response").filter(pk__in=some.values("response")).update(
            model_reading=newest(some, "response")
        )
    rows("MinedPattern").update(decision=newest(rows("PatternDecision"), "pattern"))
    rows("ReviewSlot").update(
        judgement=newest(rows("CapabilityJudgement"), "slot", order="-version")
    )
    earlier = rows("Judgement").filter(
        response=models.OuterRef("response"),
        judge=models.OuterRef("judge"),
        pk__lt=models.OuterRef("pk"),
    )
    before = models.Subquery(earlier.order_by("-pk").values("pk")[:1])
    rows("Judgement").update(follows=before)
    # Check the changed rows now: PostgreSQL alters no table before.
    schema_editor.connection.check_constraints()


def pointer(model, name, **options):
    return models.ForeignKey(
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name=name,
        to=f"evaluations.{model}",
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("evaluations", "0022_suggestion_readings"),
        ("questions", "0011_closed_lists"),
    ]

    operations = [
        *(
            migrations.AlterModelOptions(model, {"ordering": order})
            for model, order in ORDERS.items()
        ),
        migrations.AddField(
            "judgement",
            "follows",
            models.OneToOneField(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="followed_by",
                to="evaluations.judgement",
            ),
        ),
        migrations.AddField("minedpattern", "decision", pointer("patterndecision", "counts_for")),
        migrations.AddField(
            "response",
            "model_reading",
            pointer("modelreading", "counts_for", db_index=False, editable=False),
        ),
        migrations.AddField(
            "response",
            "rule_reading",
            pointer("extraction", "+", db_index=False, editable=False),
        ),
        migrations.AddField("reviewslot", "judgement", pointer("capabilityjudgement", "counts_for")),
        migrations.RunPython(point_to_newest, migrations.RunPython.noop),
        *(
            migrations.AddConstraint(
                model,
                models.CheckConstraint(
                    condition=models.Q(
                        **{f"{field}__in": values for field, values in lists.items()}
                    ),
                    name=name,
                ),
            )
            for model, name, lists in LISTS
        ),
        migrations.AddConstraint(
            "run",
            models.CheckConstraint(condition=NEEDS, name="a_run_names_what_its_kind_needs"),
        ),
    ]
