"""Imports of answers, human marks and gradings, by the pages of imports of questions."""

from __future__ import annotations

from typing import Any

from evaluations.imports.forms import AnswersForm
from evaluations.imports.selectors.answer_uploads import AnswerTotals, answer_totals
from evaluations.imports.services.answer_uploads import take_answers
from evaluations.imports.tasks import ask_for_answers
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.accounts.roles import Capability
from questions.models import ImportBatch
from questions.selectors.imports import ANSWERS
from questions.views.imports import ImportPages


class AnswerPages(ImportPages):
    """Leads answer for marks and answers as curators do for questions."""

    kind = ANSWERS
    space = "answer-imports"
    templates = "evaluations/imports"
    sees = Capability.SEE_RUNS
    edits = Capability.LEAD_ROUNDS
    form = AnswersForm

    def take(self, said: dict[str, Any], request: MemberRequest) -> ImportBatch:
        """Keep the uploaded files with the model and the repeat."""
        return take_answers(
            said["files"],
            said["source"],
            model=said["model"],
            repeat=said["repeat"] or 1,
            acting_user=request.user,
        )

    def ask(self, pk: int) -> None:
        """Tell the workers of an upload."""
        ask_for_answers(pk)

    def totals(self, batch: ImportBatch) -> AnswerTotals:
        """The sums over the files of an upload."""
        return answer_totals(batch)
