from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.waiting import register


class EvaluationsConfig(AppConfig):
    name = "evaluations"
    verbose_name = _("evaluations")

    def ready(self) -> None:
        from evaluations.selectors.waiting import evaluations_waiting

        register(evaluations_waiting)
