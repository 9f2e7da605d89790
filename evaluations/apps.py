from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.waiting import register


class EvaluationsConfig(AppConfig):
    name = "evaluations"
    verbose_name = _("evaluations")

    def ready(self) -> None:
        """Register what each feature counts for the home page."""
        from evaluations.selectors.answer_check_queue import checks_waiting
        from evaluations.selectors.desk_home import marks_waiting
        from evaluations.selectors.waiting_imports import imports_waiting
        from evaluations.selectors.waiting_rounds import rounds_waiting
        from evaluations.selectors.waiting_runs import runs_waiting

        for provider in (marks_waiting, rounds_waiting, imports_waiting, checks_waiting):
            register(provider)
        register(runs_waiting)
