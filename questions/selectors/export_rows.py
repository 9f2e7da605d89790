"""The bank as rows of a table: one item a row, with its labels and where they come from."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import QuerySet

from gradeapp.common.csv_cells import Cell
from questions.models import Question, QuestionRevision
from questions.selectors.bank import human_rate
from questions.selectors.export_records import whole_questions

LABELS = ("ability_branch", "knowledge", "difficulty", "modal")
QUESTION_COLUMNS = (
    *("dataset", "task", "id", "position", "subject", "part", "type", "language"),
    *("year", "paper", "status"),
    *("ability_branch", "ability_branch_origin", "knowledge", "knowledge_origin"),
    *("difficulty", "difficulty_origin", "modal", "modal_origin"),
    *("human_rate", "key", "full_marks", "rubric_version", "revision", "stem"),
)


def question_rows(questions: QuerySet[Question]) -> Iterator[tuple[Cell, ...]]:
    """Each item of *questions*, in ``QUESTION_COLUMNS``."""
    for question in whole_questions(questions.annotate(joined_rate=human_rate())):
        revision = question.current
        assert revision is not None  # whole_questions
        rate = question.joined_rate  # type: ignore[attr-defined]
        yield (
            *(question.task.dataset.slug, question.task.slug, question.external_id),
            *(question.position, question.subject, question.part, revision.question_type),
            *(revision.language, question.year, question.paper, question.status),
            *_label_cells(question),
            None if rate is None else round(rate, 4),
            _key(revision),
            revision.full_marks.normalize(),
            question.rubric.version if question.rubric else None,
            *(revision.number, revision.stem),
        )


def _label_cells(question: Question) -> Iterator[Cell]:
    label = question.label
    for name in LABELS:
        value = getattr(label, name) if label else None
        yield value.slug if name == "knowledge" and value else value or None
        yield label.origins.get(name) if label else None


def _key(revision: QuestionRevision) -> str:
    """The key of an objective item; the sub-questions apart."""
    return " | ".join(revision.answer_key)
