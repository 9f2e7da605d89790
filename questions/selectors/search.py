"""Full-text search of the bank: which items hold every word, and the line that shows why."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from questions.models import Question, QuestionRevision
from questions.rules.search_words import Piece, search_words, snippet


def searchable_parts(revision: QuestionRevision) -> list[str]:
    """The texts of *revision* that search looks in; the stem first, as a list shows it."""
    return [
        revision.stem,
        revision.passage,
        *revision.options,
        " ".join(revision.answer_key),
        revision.reference_answer,
        revision.analysis,
    ]


def holding_words(rows: QuerySet[Question], query: str) -> QuerySet[Question]:
    """Those of *rows* whose current revision holds every word of *query*."""
    for word in search_words(query):
        rows = rows.filter(current__search__text__contains=word)
    return rows


def hit(revision: QuestionRevision, words: Sequence[str]) -> list[Piece]:
    """The line of *revision* around its first hit, in pieces; [] where none is seen."""
    return snippet(searchable_parts(revision), words)
