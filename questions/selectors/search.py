"""Full-text search of the bank: which items hold every word, and the line that shows why."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from questions.models import Question, QuestionRevision, SearchText
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
    words = search_words(query)
    if not words:
        return rows
    # The texts are read in one go; joined to each item they would be looked up one by one.
    texts = SearchText.objects.all()
    for word in words:
        texts = texts.filter(text__contains=word)
    return rows.filter(current__in=texts.values("revision"))


def hit(revision: QuestionRevision, words: Sequence[str]) -> list[Piece]:
    """The line of *revision* around its first hit, in pieces; [] where none is seen."""
    return snippet(searchable_parts(revision), words)
