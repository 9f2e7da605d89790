"""Reading the revisions of an item, each with what it changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from questions.models import Question, QuestionRevision
from questions.rules.text_differences import Piece, differences
from questions.selectors.repaired_keys import repaired_keys

TEXTS = ("passage", "stem", "options", "letters", "answer_key", "reference_answer", "analysis")
FACTS = ("question_type", "full_marks", "paper_published")


@dataclass(frozen=True, slots=True)
class ChangedText:
    """One field of a revision that differs from the one before; ``name`` is the column's."""

    name: str
    pieces: list[Piece]


@dataclass(frozen=True, slots=True)
class RevisionChange:
    """A revision and what it changed; the first changed nothing.

    ``counts`` is the key that scores answers to it, where that is another one than its own or than
    the source's; ``by_repair`` whether a repair gave it.
    """

    revision: QuestionRevision
    texts: list[ChangedText]
    counts: Sequence[str] | None
    by_repair: bool


def revision_changes(question: Question) -> list[RevisionChange]:
    """Every revision of the item, the newest first."""
    newest_first = list(question.revisions.select_related("author").order_by("-number"))
    repaired = repaired_keys([one.pk for one in newest_first])
    found = []
    for revision, before in zip_longest(newest_first, newest_first[1:]):
        texts = list(_changed(before, revision)) if before else []
        original = tuple(revision.original_key)
        key = repaired[revision.pk].key if revision.pk in repaired else tuple(revision.answer_key)
        differs = any(key) and not key == original == tuple(revision.answer_key)
        found.append(RevisionChange(revision, texts, key if differs else None, key != original))
    return found


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
