from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.waiting import register


class QuestionsConfig(AppConfig):
    name = "questions"
    verbose_name = _("question bank")

    def ready(self) -> None:
        from questions.selectors.waiting import bank_waiting

        register(bank_waiting)
