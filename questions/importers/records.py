"""What every importer hands over: question records, and problems with file and row.

An importer takes a path in and gives records and problems out. It knows no
database, so that a dry run and an import read a source in the same way.

QuestionRecord and TaskRecord are also the schema of a line of the exam format
(docs/datasets.md, docs/exam-format.schema.json): pydantic reads their annotations.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from questions.rules.json_schema import (
    CONFIG,
    LETTERS,
    VISIBLE,
    Filled,
    Marks,
    Name,
    Share,
    Slug,
    Weight,
    Whole,
)
from questions.rules.rubric import PointGroup, ScoringPoint
from questions.rules.vocabulary import (
    AbilityBranch,
    Language,
    Modal,
    Part,
    QuestionType,
    RateKind,
    Subject,
)


@dataclass(frozen=True)
class LabelsRecord:
    """The labels that a source publishes; None or "" where it names none.

    Knowledge is the slug of the taxonomy's subclass or category.
    """

    __pydantic_config__ = CONFIG

    ability_branch: AbilityBranch | None = None
    knowledge: Annotated[Slug, Field(max_length=80)] | Literal[""] = ""
    difficulty: Annotated[Whole, Field(ge=1, le=5)] | None = None
    modal: Modal | None = None


@dataclass(frozen=True)
class HumanRateRecord:
    """How people did: *value* is a share from 0 to 1; *sample_size* None where not published.

    ``kind`` is ``average``, or ``top`` for the best of the people of a whole task.
    """

    __pydantic_config__ = CONFIG

    value: Share
    source: Annotated[Name, Field(max_length=200), VISIBLE]
    sample_size: Annotated[Whole, Field(ge=1, le=1_000_000_000)] | None = None
    weight: Annotated[Weight, Field(json_schema_extra={"default": 1})] = Decimal(1)
    kind: RateKind = RateKind.AVERAGE


@dataclass(frozen=True)
class FewShotRecord:
    """A published worked example of a task; the words are those of a question."""

    __pydantic_config__ = CONFIG

    number: Annotated[Whole, Field(ge=1, le=1000)]
    stem: str
    answer_key: Annotated[tuple[str, ...], Field(alias="answer")] = ()
    explanation: str = ""
    passage: str = ""
    options: tuple[str, ...] = ()
    letters: Annotated[str, Field(max_length=26)] = ""


@dataclass(frozen=True)
class TaskRecord:
    """What a source says of a task as a whole."""

    __pydantic_config__ = CONFIG | ConfigDict(
        json_schema_extra={"required": ["about", "dataset", "task"]}
    )

    dataset: Annotated[Slug, Field(max_length=50)]
    task: Annotated[Name, Field(max_length=120), VISIBLE]
    human_rates: tuple[HumanRateRecord, ...] = ()
    examples: tuple[FewShotRecord, ...] = ()
    about: Literal["task"] = "task"


@dataclass(frozen=True)
class QuestionRecord:
    """One item as a source gives it.

    ``options`` holds the texts of the options in the order of ``letters`` where
    the source gives them apart; otherwise they stand in the stem.
    ``answer_key`` holds one string per sub-answer of an objective item (sorted
    letters, ``"BD"`` for two right options, or the text of an exact answer); it
    is empty for a subjective item, whose ``reference_answer`` is text.
    ``labels`` and ``human_rates`` are rows of their own and no part of a
    revision. ``sub_marks`` are the full marks of each
    sub-answer in points; their sum is ``full_marks``.
    """

    __pydantic_config__ = CONFIG

    dataset: Annotated[Slug, Field(max_length=50)]
    task: Annotated[Name, Field(max_length=120), VISIBLE]
    external_id: Annotated[Name, Field(alias="id", max_length=80), VISIBLE]
    question_type: Annotated[QuestionType, Field(alias="type")]
    language: Language
    stem: Filled
    sub_marks: Annotated[tuple[Marks, ...], Field(min_length=1)]
    position: Annotated[Whole, Field(ge=0, le=1_000_000_000)] = 0
    subject: Subject | None = None
    answer_key: Annotated[tuple[str, ...], Field(alias="answer")] = ()
    reference_answer: str = ""
    analysis: str = ""
    letters: Annotated[str, Field(pattern=LETTERS)] = ""
    year: Annotated[Whole, Field(ge=1900, le=2100)] | None = None
    paper: Annotated[str, Field(max_length=80), VISIBLE] = ""
    paper_published: Annotated[str, Field(max_length=80), VISIBLE] = ""
    rubric: tuple[ScoringPoint, ...] = ()
    images: tuple[str, ...] = ()
    extra: dict[str, str] = field(default_factory=dict)
    passage: str = ""
    options: tuple[str, ...] = ()
    labels: LabelsRecord | None = None
    human_rates: tuple[HumanRateRecord, ...] = ()
    rubric_groups: tuple[PointGroup, ...] = ()

    @property
    def part(self) -> Part:
        """Objective or subjective, by the type of the item."""
        return self.question_type.part

    @property
    def full_marks(self) -> Decimal:
        """Full marks of the whole item in points."""
        return sum(self.sub_marks, Decimal(0))

    def content_hash(self) -> str:
        """SHA-256 over everything that makes a revision; its place in the file does not count.

        Fields that came later count only where they hold something, so that what
        was imported before them keeps its hash.
        """
        content = {name: getattr(self, name) for name in _CONTENT}
        for parts in ("rubric", "rubric_groups"):
            content[parts] = [asdict(part) for part in content[parts]]
        for later in ("passage", "options", "rubric_groups"):
            if not content[later]:
                del content[later]
        for point in content["rubric"]:
            if point["group"] is None:
                del point["group"]
        text = json.dumps(content, ensure_ascii=False, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


_APART = {"dataset", "task", "external_id", "position", "labels", "human_rates"}
_CONTENT = tuple(part.name for part in fields(QuestionRecord) if part.name not in _APART)


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
    """One file of a source, read whole: its records, or the problems that refuse it.

    ``tasks`` say something of tasks that have questions in this file.
    """

    name: str
    records: tuple[QuestionRecord, ...]
    problems: tuple[Problem, ...]
    tasks: tuple[TaskRecord, ...] = ()

    @property
    def refused(self) -> bool:
        """A refused file gives nothing to the bank."""
        return any(problem.fatal for problem in self.problems)
