from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from gradeapp.waiting import register


class EvaluationsConfig(AppConfig):
    name = "evaluations"
    verbose_name = _("evaluations")

    def ready(self) -> None:
        """Register the run kinds, and what each feature counts for the home page."""
        from evaluations.imports.selectors import imports_waiting
        from evaluations.judging.kinds import JudgeFollower, JudgeKind
        from evaluations.marking.desk.selectors.desk_home import marks_waiting
        from evaluations.marking.rounds.selectors.waiting import rounds_waiting
        from evaluations.reading.kinds import ReadKind, ScoredAnswerKind
        from evaluations.reading.selectors.answer_check_queue import checks_waiting
        from evaluations.runs import kinds
        from evaluations.runs.selectors.runs import runs_waiting
        from evaluations.suggesting.kinds import SuggestKind

        for provider in (marks_waiting, rounds_waiting, imports_waiting, checks_waiting):
            register(provider)
        register(runs_waiting)
        for kind in (ScoredAnswerKind(), JudgeKind(), ReadKind(), SuggestKind()):
            kinds.register(kind)
        kinds.register_follower(JudgeFollower())
