"""What every importer of published answers hands over: answers, with marks and gradings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from questions.importers.records import Problem

Marks = tuple[Decimal | None, ...]


@dataclass(frozen=True, slots=True)
class Grading:
    """A judge's reply to one answer, and the totals released with it, possible or not."""

    judge: str
    reply: str
    released: Marks


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One row: what a model wrote to one question, in one sitting (*repeat*, from 1).

    ``marks`` are the teachers' marks in points, in their order, None where a
    teacher gave none; empty where the row carries no marks at all. Questions are
    found by dataset, task and external id, never by their text. ``question`` and
    ``key`` are what the row itself says of its question, empty where it says nothing:
    they show whether the file belongs to the task that it names.
    """

    row: int
    dataset: str
    task: str
    external_id: str
    model: str
    repeat: int
    text: str
    finish_reason: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    marks: Marks = ()
    grading: Grading | None = None
    question: str = ""
    key: str = ""

    @property
    def identity(self) -> tuple[str, str, str, str, int]:
        """What one answer is told apart by."""
        return self.dataset, self.task, self.external_id, self.model, self.repeat

    def same_content(self, other: AnswerRecord) -> bool:
        """Whether both rows say the same, wherever they stand."""
        return replace(self, row=other.row) == other


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """One file of a source, read whole: its answers, or the problems that refuse it."""

    name: str
    answers: tuple[AnswerRecord, ...]
    problems: tuple[Problem, ...]

    @property
    def refused(self) -> bool:
        """A refused file gives nothing."""
        return any(problem.fatal for problem in self.problems)

    @property
    def skipped(self) -> bool:
        """The file is something else than answers and was passed over."""
        return not self.answers and not self.refused
