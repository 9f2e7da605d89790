"""Counts of imports of answers: the files of one upload, and the uploads that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting
from questions.models import ImportBatch
from questions.models.imports import ImportFile
from questions.rules.vocabulary import ImportStatus
from questions.selectors.imports import ANSWERS, imports


@dataclass(frozen=True, slots=True)
class AnswerTotals:
    """Numbers of new responses, marks and judgements in the files of an upload.

    ``same`` counts responses that are already stored, ``unmatched`` rows without a question in the
    bank, ``skipped`` files with other contents, ``refused`` files.
    """

    files: int = 0
    responses: int = 0
    marks: int = 0
    judgements: int = 0
    same: int = 0
    unmatched: int = 0
    skipped: int = 0
    refused: int = 0

    @property
    def to_write(self) -> int:
        """The number of rows that the import would add."""
        return self.responses + self.marks + self.judgements


def answer_totals(batch: ImportBatch) -> AnswerTotals:
    """Return the sums over the files of an upload of answers; one query."""
    names = ("responses", "marks", "judgements", "unmatched", "skipped")
    total: Counter[str] = Counter()
    for file in ImportFile.objects.filter(batch=batch):
        more = {name: file.more_counts.get(name, 0) for name in names}
        total.update(files=1, same=file.same, refused=int(file.refused), **more)
    return AnswerTotals(**total)


def imports_waiting(user: User) -> Iterator[Waiting]:
    """Yield for the home page the number of imports that wait for a confirmation; one query."""
    if user.may(Capability.LEAD_ROUNDS):
        checked = imports(ANSWERS).filter(status=ImportStatus.CHECKED).exclude(folder="").count()
        where = reverse("answer-imports:imports")
        yield Waiting(_("Imports of responses to confirm"), checked, where)
