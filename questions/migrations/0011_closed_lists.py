"""Check the closed lists of the bank in the database, and sort no table by a foreign key."""

from django.db import migrations, models

SUBJECTS = [
    *("", "Chinese", "English", "Sciences Mathematics", "Humanities Mathematics", "Physics"),
    *("Chemistry", "Biology", "Politics", "History", "Geography"),
]
PARTS = ["objective", "subjective"]
TYPES = [
    *("single_choice", "multi_choice", "multi_question_choice", "five_out_of_seven"),
    *("exact_answer", "cloze", "correction", "subjective"),
]
LANGUAGES = ["zh", "en"]
BRANCHES = ["", "common_sense", "understanding", "reasoning"]
MODALS = ["", "text", "text_table", "text_image", "image", "text_image_table"]
IMPORTS = [
    *("queued", "working", "checked", "stopped", "interrupted", "failed", "done", "discarded"),
]
CODES = [
    *("key_outside_options", "several_letters", "key_count", "empty_key", "empty_options"),
    *("repeated_options", "key_against_analysis", "missing_figure", "exact_duplicate"),
    *("near_duplicate", "conflicting_key", "rubric_sum", "gold_unread"),
]
SOURCES = ["import", "person", "file", "proposal", "model"]
# Model, name of the constraint, the values of each field.
LISTS = [
    ("humanrate", "rate_kind_known", {"kind": ["average", "top"]}),
    ("importbatch", "import_status_known", {"status": IMPORTS}),
    ("itemdecision", "decision_known", {"decision": ["keep", "repair", "exclude"]}),
    ("itemproblem", "problem_code_known", {"code": CODES}),
    ("knowledge", "knowledge_branch_known", {"ability_branch": BRANCHES}),
    ("labelopinion", "opinion_lists_known", {"ability_branch": BRANCHES, "modal": MODALS}),
    ("labelrevision", "label_lists_known", {"ability_branch": BRANCHES, "modal": MODALS}),
    (
        "question",
        "question_lists_known",
        {"subject": SUBJECTS, "part": PARTS, "status": ["active", "quarantined", "excluded"]},
    ),
    (
        "questionrevision",
        "revision_lists_known",
        {"question_type": TYPES, "language": LANGUAGES},
    ),
    ("rubric", "rubric_source_known", {"source": SOURCES}),
    (
        "task",
        "task_lists_known",
        {"subject": SUBJECTS, "part": PARTS, "question_type": TYPES, "language": LANGUAGES},
    ),
]
ORDERS = {
    "fewshotexample": ["number", "id"],
    "importfile": ["id"],
    "importproblem": ["id"],
    "labelopinion": ["-id"],
    "labelrevision": ["-id"],
    "question": ["position", "id"],
    "questionrevision": ["number", "id"],
    "rubric": ["version", "id"],
    "rubricgroup": ["order", "id"],
    "scoringpoint": ["order", "id"],
    "task": ["slug", "id"],
}


class Migration(migrations.Migration):
    dependencies = [("questions", "0010_pointers_to_what_counts")]

    operations = [
        *(
            migrations.AlterModelOptions(model, {"ordering": order})
            for model, order in ORDERS.items()
        ),
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
            "rubric",
            models.CheckConstraint(
                condition=(models.Q(source="model") & ~models.Q(model_name=""))
                | (~models.Q(source="model") & models.Q(model_name="")),
                name="a_proposing_model_is_named",
            ),
        ),
    ]
