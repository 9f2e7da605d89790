"""x"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

_REMOVED = (r"^{\circ}", r"^\circ", r"\$")


def exact_match(gold: str, answer: str) -> bool:
    """Whether both have the same string normal form; an empty answer matches nothing.

    Where the normal form cannot be made (a root that breaks off, two units), the
    texts are compared as they are, as published. Linear in the texts.
    """
    if not answer.strip():
        return False
    try:
        return published_form(gold) == published_form(answer)
    except (IndexError, ValueError):
        return gold == answer


def published_form(text: str) -> str:
    """The normal form of the released program.

    IndexError for a root or fraction that breaks off, ValueError for two units.
    """
    text = text.replace("\n", "").replace(r"\!", "").replace("\\\\", "\\")
    text = text.replace("tfrac", "frac").replace("dfrac", "frac")
    text = text.replace(r"\left", "").replace(r"\right", "")
    for removed in _REMOVED:
        text = text.replace(removed, "")
    text = _without_unit(text).replace(r"\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    if text[0] == ".":
        text = "0" + text
    sides = text.split("=")
    if len(sides) == 2 and len(sides[0]) <= 2:
        text = sides[1]
    text = _fractions(_roots(text).replace(" ", ""))
    return _slash(r"\frac{1}{2}" if text == "0.5" else text)


def _without_unit(text: str) -> str:
    r"""Without what follows "\text{ ": the program takes it for a unit, and expects one."""
    parts = text.split(r"\text{ ")
    if len(parts) > 2:
        raise ValueError("two units")
    return parts[0]


def _roots(text: str) -> str:
    r"""\sqrt3 with braces."""
    first, *others = text.split(r"\sqrt")
    fixed = [part if part[:1] == "{" else f"{{{part[0]}}}{part[1:]}" for part in others]
    return first + "".join(rf"\sqrt{part}" for part in fixed)


def _fractions(text: str) -> str:
    r"""\frac12 and \frac1{2} with braces."""
    first, *others = text.split(r"\frac")
    if any(len(part) == 1 and part != "{" for part in others):
        return text
    return first + "".join(rf"\frac{_braced(part)}" for part in others)


def _braced(part: str) -> str:
    if part[0] == "{":
        return part
    below = part[1:] if part[1] == "{" else f"{{{part[1]}}}{part[2:]}"
    return f"{{{part[0]}}}{below}"


def _slash(text: str) -> str:
    """a/b with whole numbers as a fraction of LaTeX."""
    match = re.fullmatch(r"(-?\d+)/(-?\d+)", text)
    if match is None or text != f"{int(match[1])}/{int(match[2])}":
        return text
    return rf"\frac{{{match[1]}}}{{{match[2]}}}"


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
    bare = "".join(
        c for c in text if not (c in string.punctuation or unicodedata.category(c).startswith("P"))
    )
    return [word for word in bare.split() if word not in _ARTICLES]
