"""What every importer hands over: question records, and problems with file and row.

An importer takes a path in and gives records and problems out. It knows no
database, so that a dry run and an import read a source in the same way.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from decimal import Decimal

from questions.rules.vocabulary import Language, Part, QuestionType, Subject


@dataclass(frozen=True)
class ScoringPointRecord:
    """One line of a rubric: *sub* is the 1-based sub-question it belongs to."""

    text: str
    points: Decimal
    sub: int = 1


@dataclass(frozen=True)
class QuestionRecord:
    """One item as a source gives it.

    ``answer_key`` holds one string per sub-answer of an objective item (sorted
    letters, ``"BD"`` for two right options); it is empty for a subjective item,
    whose ``reference_answer`` is text. ``sub_marks`` are the full marks of each
    sub-answer in points; their sum is ``full_marks``.
    """

    dataset: str
    task: str
    external_id: str
    position: int
    subject: Subject | None
    question_type: QuestionType
    language: Language
    stem: str
    answer_key: tuple[str, ...]
    reference_answer: str
    analysis: str
    sub_marks: tuple[Decimal, ...]
    letters: str = ""
    year: int | None = None
    paper: str = ""
    paper_published: str = ""
    rubric: tuple[ScoringPointRecord, ...] = ()
    images: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def part(self) -> Part:
        """Objective or subjective, by the type of the item."""
        return self.question_type.part

    @property
    def full_marks(self) -> Decimal:
        """Full marks of the whole item in points."""
        return sum(self.sub_marks, Decimal(0))

    def content_hash(self) -> str:
        """SHA-256 over everything that makes a revision; its place in the file does not count."""
        content = asdict(self)
        for identity in ("dataset", "task", "external_id", "position"):
            del content[identity]
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Problem:
    """Something a person should know about one row of one file.

    ``code`` is stable and is what a page translates; ``text`` is one English
    sentence for logs and JSON. ``fatal`` says that the whole file is refused.
    """

    file: str
    row: int | None
    code: str
    text: str
    fatal: bool = False

    def as_dict(self) -> dict[str, object]:
        """The shape of INTERFACE: file, row, code, text."""
        return {"file": self.file, "row": self.row, "code": self.code, "text": self.text}


@dataclass(frozen=True)
class SourceFile:
    """One file of a source, read whole: its records, or the problems that refuse it."""

    name: str
    records: tuple[QuestionRecord, ...]
    problems: tuple[Problem, ...]

    @property
    def refused(self) -> bool:
        """A refused file gives nothing to the bank."""
        return any(problem.fatal for problem in self.problems)


SourceFiles = Iterator[SourceFile]
