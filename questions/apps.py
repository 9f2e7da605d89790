from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.audit import counted
from gradeapp.audit.objects import register as register_object
from gradeapp.audit.tags import Tag
from gradeapp.audit.values import register as register_codes
from gradeapp.waiting import register
from questions.rules.vocabulary import AbilityBranch, Decision, Modal, RubricSource

# Pages, fragments and answers of the API that show a question with its text, key or rubric.
ITEMS = {
    **{
        f"questions:{name}": counted.Shown("question", "public_id")
        for name in (
            *("question", "report", "labels", "labelling-item", "labelling-resolve", "rates"),
            *("rubrics", "rubric-new", "rubric-export"),
        )
    },
    "questions:problem": counted.Shown("question", "pk"),
    "api-question": counted.Shown("question", "public_id"),
    "api-rubrics": counted.Shown("question", "public_id"),
    "api-questions": counted.Shown("question", "id", rows=True),
}


class QuestionsConfig(AppConfig):
    name = "questions"
    verbose_name = _("question bank")

    def ready(self) -> None:
        from questions.selectors.waiting import bank_waiting, question_addresses

        register(bank_waiting)
        counted.register(ITEMS)
        register_object("question", question_addresses)
        register_codes("decision", Decision)
        register_codes("ability_branch", AbilityBranch)
        register_codes("modal", Modal)
        register_codes("source", RubricSource, tags=[Tag.RUBRIC_DRAFTED])
