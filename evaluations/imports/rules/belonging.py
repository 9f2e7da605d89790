"""Decide whether a row of answers belongs to the question that its file and index name.

Texts of questions were edited after answers to them were published, and keys were corrected. A row
belongs to another question only if both its text and its key differ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from questions.rules.plain_text import comparable

# A file is refused if more than this share of its rows belong to other questions.
MOST_FOREIGN = 0.3
# Without a key, a text with less than this share in common belongs to another question.
LEAST_ALIKE = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """The texts and keys of all revisions of one question, normalized by ``comparable``."""

    texts: frozenset[str]
    keys: frozenset[str]


def key_text(value: object) -> str:
    """Return a key as one text, with the letters of each sub-question sorted.

    *value* is a text, or a list with a text for each sub-question; "" for anything else.
    """
    parts = value if isinstance(value, list) else [value]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) < len(parts):
        return ""
    return " ".join(_ordered(text.strip()) for text in texts)


def _ordered(part: str) -> str:
    is_letters = part.isascii() and part.isalpha() and part.isupper()
    return "".join(sorted(set(part))) if is_letters else part


def is_foreign(question: str, key: str, known: Known) -> bool:
    """Return whether a row with the text *question* and the key *key* is of another question.

    This is so if both differ from all *known* ones. If one side has no key, the texts decide, and
    must have little in common. A row without a text is never foreign.
    """
    text = comparable(question)
    if not text or not known.texts or text in known.texts:
        return False
    own_key = comparable(key)
    if own_key and known.keys:
        return own_key not in known.keys
    return max(similarity(text, other) for other in known.texts) < LEAST_ALIKE


def similarity(one: str, other: str) -> float:
    """Return the Dice coefficient of the character bigrams of two texts, 0 to 1."""
    ours, theirs = ({first + second for first, second in pairwise(t)} for t in (one, other))
    if not ours or not theirs:
        return float(one == other)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def too_many(foreign: int, compared: int) -> bool:
    """Return whether a file with *foreign* of *compared* rows belongs to another task."""
    return foreign > MOST_FOREIGN * compared


def known_texts(texts: Iterable[str], keys: Iterable[str]) -> Known:
    """Return the normalized texts and keys of one question, without empty ones."""
    return Known(
        frozenset(filter(None, map(comparable, texts))),
        frozenset(filter(None, map(comparable, keys))),
    )
