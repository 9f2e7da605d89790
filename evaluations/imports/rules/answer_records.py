"""The records that every reader of published answers returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal

from questions.importers.records import Problem

Marks = tuple[Decimal | None, ...]


@dataclass(frozen=True, slots=True)
class Grading:
    """A judge's reply to one answer, and the totals released with it, also if impossible."""

    judge: str
    reply: str
    released: Marks


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One row: the answer of a model to one question in one *repeat* (from 1).

    ``marks`` are the teachers' marks in points, in their order, None if a teacher gave none; ()
    without marks. Questions are found by dataset, task and external id, never by their text.
    ``question`` and ``key`` are the text and key in the row, or "": they show whether the file
    belongs to the task that it names. ``setting`` (one of ``PromptSetting``) and ``condition`` (a
    name) say how the model was asked, "" where it is not known.
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
    setting: str = ""
    condition: str = ""

    @property
    def identity(self) -> tuple[str | int, ...]:
        """The key that identifies an answer."""
        asked = (self.model, self.setting, self.condition)
        return self.dataset, self.task, self.external_id, *asked, self.repeat

    def same_content(self, other: AnswerRecord) -> bool:
        """Return whether both rows are equal except for their row number."""
        return replace(self, row=other.row) == other


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """One file of a source: its answers, or the problems for which it is refused."""

    name: str
    answers: tuple[AnswerRecord, ...]
    problems: tuple[Problem, ...]

    @property
    def refused(self) -> bool:
        """Whether a problem is fatal; nothing is imported from the file."""
        return any(problem.fatal for problem in self.problems)

    @property
    def skipped(self) -> bool:
        """Whether the file contains no answers and was not refused."""
        return not self.answers and not self.refused
