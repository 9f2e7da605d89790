"""Reading the revisions of an item, each with what it changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from questions.models import Question, QuestionRevision
from questions.rules.text_differences import Piece, differences

TEXTS = ("passage", "stem", "options", "letters", "answer_key", "reference_answer", "analysis")
FACTS = ("question_type", "full_marks", "paper_published")


@dataclass(frozen=True, slots=True)
class ChangedText:
    """One field of a revision that differs from the one before; ``name`` is the column's."""

    name: str
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class RevisionChange:
    """A revision and what it changed; the first changed nothing."""

    revision: QuestionRevision
    texts: list[ChangedText]


def revision_changes(question: Question) -> list[RevisionChange]:
    """Every revision of the item, the newest first."""
    newest_first = list(question.revisions.select_related("author").order_by("-number"))
    followed = pairwise(newest_first)
    changes = [RevisionChange(after, list(_changed(before, after))) for after, before in followed]
    return changes + [RevisionChange(first, []) for first in newest_first[-1:]]


def _changed(before: QuestionRevision, after: QuestionRevision) -> Iterator[ChangedText]:
    for name in (*TEXTS, *FACTS):
        pieces = differences(_text(before, name), _text(after, name))
        if pieces:
            yield ChangedText(name, pieces)


def _text(revision: QuestionRevision, name: str) -> str:
    value = getattr(revision, name)
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return str(value)
