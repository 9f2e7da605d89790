"""What full-text search looks in."""

from __future__ import annotations

from django.db import models

from questions.models.bank import QuestionRevision


class SearchText(models.Model):
    """Passage, stem, options, answer and analysis of a revision, folded for search.

    Made once with the revision (``questions.rules.search_words.search_text``) and
    never changed, as the revision is not. A table of its own, so that a search
    reads these texts and nothing else.
    """

    revision = models.OneToOneField(
        QuestionRevision, primary_key=True, on_delete=models.PROTECT, related_name="search"
    )
    text = models.TextField()

    def __str__(self) -> str:
        return self.text[:40]
