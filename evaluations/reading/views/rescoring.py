"""The pages of rescorings."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from evaluations.models import Rescoring, Response, Run
from evaluations.reading.forms.rescoring import RescoringForm
from evaluations.reading.selectors import rescorings as reading
from evaluations.reading.selectors.reading_patterns import scored_by_other_patterns
from evaluations.reading.services import rescoring_jobs as services
from evaluations.reading.services.readers import ERROR_TEXT_VERSION
from evaluations.reading.services.scoring import PRESENT_READERS
from evaluations.reading.tasks import ask_for_rescoring
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.views import WorkPages


def scored_before(run: Run | None) -> int:
    """Count the responses (of *run*) whose scores are all of an earlier version of the readers."""
    found = reading.scored_by_earlier_readers(PRESENT_READERS, ERROR_TEXT_VERSION)
    return (found if run is None else found.filter(run=run)).count()


class RescoringPages(WorkPages):
    """Rescorings; leads start them, as they decide how answers are marked."""

    at = {
        "one": "scoring:rescoring",
        "progress": "scoring:progress",
        "stop": "scoring:stop",
        "resume": "scoring:resume",
    }
    folder = "evaluations/reading/scoring"
    list_id = "rescorings"
    sees = Capability.SEE_RUNS
    edits = Capability.LEAD_ROUNDS
    form = RescoringForm
    missing = _("There is no such rescoring.")
    stopping = _("Rescoring stops after the current batch. Scores made so far are kept.")
    stop_work = staticmethod(services.stop_rescoring)
    resume_work = staticmethod(services.resume_rescoring)
    progress_of = staticmethod(reading.progress)
    ask = staticmethod(ask_for_rescoring)

    def rows(self, owner: int | None = None) -> Any:
        return reading.rescorings()

    def start(self, form: Any, request: MemberRequest, owner: int | None) -> Rescoring:
        return services.start_rescoring(*form.wanted(), acting_user=request.user)

    def more_of_list(self, request: MemberRequest, owner: int | None) -> dict[str, Any]:
        others = scored_by_other_patterns(Response.objects.all())
        return {"outdated": scored_before(None), "by_patterns": others.count()}
