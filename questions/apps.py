from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.audit.objects import register as register_object
from gradeapp.waiting import register


class QuestionsConfig(AppConfig):
    name = "questions"
    verbose_name = _("question bank")

    def ready(self) -> None:
        from questions.selectors.waiting import bank_waiting, question_addresses

        register(bank_waiting)
        register_object("question", question_addresses)
