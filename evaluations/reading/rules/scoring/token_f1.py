"""How much of a worded answer is in the gold answer: F1 over tokens.

Source: SQuAD (Rajpurkar et al. 2016) for English: words without capitals,
punctuation and articles, where its program counts the signs ``$+<=>^`|~`` as
punctuation. For Chinese, where words are not divided, every
character is a token and a run of Latin letters or digits is one; this is the
usual practice (CMRC 2018), AGIEval names no other.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

_ARTICLES = frozenset(("a", "an", "the"))
_CHINESE_TOKEN = re.compile(r"[A-Za-z0-9]+|[^\W_]")


def f1(gold: str, answer: str, language: str) -> float:
    """The harmonic mean of precision and recall, 0 to 1; an empty side gives 0.

    *language* "zh..." counts characters, all else words. Tokens are counted as
    often as they stand on both sides. Linear in the texts.
    """
    wanted, given = (Counter(tokens(text, language)) for text in (gold, answer))
    common = (wanted & given).total()
    if not common:
        return 0.0
    precision, recall = common / given.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall)


def tokens(text: str, language: str) -> list[str]:
    """The tokens of *text* in order: lower case, no punctuation, no English articles."""
    text = unicodedata.normalize("NFKC", text).lower()
    if language.startswith("zh"):
        return _CHINESE_TOKEN.findall(text)
    bare = "".join(c for c in text if not _is_punctuation(c))
    return [word for word in bare.split() if word not in _ARTICLES]


def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")
