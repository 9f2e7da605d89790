"""Writes what full-text search looks in, beside each new revision."""

from __future__ import annotations

from collections.abc import Iterable

from questions.models import QuestionRevision, SearchText
from questions.rules.search_words import search_text
from questions.selectors.search import searchable_parts


def make_searchable(revisions: Iterable[QuestionRevision]) -> None:
    """Let search find *revisions*; call it in the transaction that makes them."""
    SearchText.objects.bulk_create(
        SearchText(revision=revision, text=search_text(searchable_parts(revision)))
        for revision in revisions
    )
