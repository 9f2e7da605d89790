"""The pages of imports of answers, human marks and gradings."""

from __future__ import annotations

from typing import Any

from evaluations.imports.forms import AnswersForm
from evaluations.imports.selectors import answer_totals
from evaluations.imports.services.answer_uploads import take_answers
from evaluations.imports.services.report_looks import note_report_read
from evaluations.imports.tasks import ask_for_answers
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.accounts.roles import Capability
from questions.models import ImportBatch
from questions.selectors.imports import ANSWERS
from questions.views.imports import ImportPages, addresses


class AnswerPages(ImportPages):
    """Leads import answers and marks, as curators import questions."""

    kind = ANSWERS
    at = addresses("answer-imports")
    folder = "evaluations/imports"
    sees = Capability.SEE_RUNS
    edits = Capability.LEAD_ROUNDS
    form = AnswersForm
    ask = staticmethod(ask_for_answers)
    totals_of = staticmethod(answer_totals)

    def more_of_page(self, request: MemberRequest, work: ImportBatch) -> dict[str, Any]:
        """Return the files and problems, which name models and marks: whoever reads them looks."""
        note_report_read(work, acting_user=request.user)
        return super().more_of_page(request, work)

    def start(self, form: Any, request: MemberRequest, owner: int | None) -> ImportBatch:
        said = form.cleaned_data
        return take_answers(
            said["files"],
            said["source"],
            model=said["model"],
            repeat=said["repeat"] or 1,
            setting=said["setting"],
            condition=said["condition"],
            acting_user=request.user,
            form_key=said["key"],
        )
