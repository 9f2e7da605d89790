"""Reading uploads of answers: the sums over the files of one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from questions.models import ImportBatch
from questions.models.imports import ImportFile


@dataclass(frozen=True, slots=True)
class AnswerTotals:
    """What the files of an upload hold: responses, marks and gradings that are new.

    ``same`` counts responses that are stored already, ``unmatched`` rows without a question in
    the bank, ``skipped`` files that hold something else, ``refused`` files.
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
        """Rows that an import would write."""
        return self.responses + self.marks + self.judgements


def answer_totals(batch: ImportBatch) -> AnswerTotals:
    """The sums over the files of an upload of answers; one query."""
    names = ("responses", "marks", "judgements", "unmatched", "skipped")
    total: Counter[str] = Counter()
    for file in ImportFile.objects.filter(batch=batch):
        more = {name: file.more_counts.get(name, 0) for name in names}
        total.update(files=1, same=file.same, refused=int(file.refused), **more)
    return AnswerTotals(**total)
