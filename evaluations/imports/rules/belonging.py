"""Tells whether a row of answers belongs to the question that its file and index name.

Texts of questions were edited after answers to them were published, and keys were
corrected. A row is another question's only where nothing it carries agrees.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from questions.rules.plain_text import comparable

# A file is refused where more than this share of its rows are another question's.
MOST_FOREIGN = 0.3
# Without a key, a text is another question's where so little of it is alike.
LEAST_ALIKE = 0.5


@dataclass(frozen=True, slots=True)
class Known:
    """The texts and keys that the bank has of one question, old versions too, as ``plain``."""

    texts: frozenset[str]
    keys: frozenset[str]


def plain(text: str) -> str:
    """*text* without what may differ between editions: space, width, LaTeX spacing, signs."""
    return comparable(text)


def key_text(value: object) -> str:
    """A key as one text: letters of a sub-question in order, or the text; empty for anything else.

    *value* is a text, or a list of texts with one entry a sub-question.
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
    """Whether a row with the text *question* and the key *key* is another question's.

    Both differ from all that is *known*. Where one side has no key the texts decide,
    and they must have little in common. A row without a text is never foreign.
    """
    text = plain(question)
    if not text or not known.texts or text in known.texts:
        return False
    own_key = plain(key)
    if own_key and known.keys:
        return own_key not in known.keys
    return max(alike(text, other) for other in known.texts) < LEAST_ALIKE


def alike(one: str, other: str) -> float:
    """The share of pairs of neighbouring characters that two texts have in common, 0 to 1."""
    ours, theirs = _pairs(one), _pairs(other)
    if not ours or not theirs:
        return float(one == other)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def _pairs(text: str) -> set[str]:
    return {text[place : place + 2] for place in range(len(text) - 1)}


def too_many(foreign: int, compared: int) -> bool:
    """Whether a file with so many foreign ones among its compared rows is another task's."""
    return foreign > MOST_FOREIGN * compared


def known_texts(texts: Iterable[str], keys: Iterable[str]) -> Known:
    """What the bank has of one question; empty texts and keys say nothing."""
    return Known(
        frozenset(found for text in texts if (found := plain(text))),
        frozenset(found for key in keys if (found := plain(key))),
    )
