"""Compare short answers as AGIEval's released program does: exact match and token F1.

Exact match. Source: AGIEval (Zhong et al. 2023), section 4.1, and ``is_equiv`` in
``src/math_equivalence.py`` of the released program, taken from the MATH benchmark
(Hendrycks et al. 2021). Use it to compare with published tables; the strict policy uses
``math_equivalence``. Quirks: the TeX signs for percent and degrees (``\\%``, ``^\\circ``)
are removed on both sides, so ``50\\%`` equals 50, but a plain ``%`` or ``°`` is kept;
a unit in ``\\text{ }`` at the end is removed; "x = 5" is 5 if the left side has at most
two characters; 0.5 is one half, but no other decimal is a fraction; sets, order and
spaces inside words are compared as written.

F1 over tokens. Source: SQuAD (Rajpurkar et al. 2016) for English: words without
capitals, punctuation (with the signs ``$+<=>^`|~``) and articles. For Chinese every
character is a token, and so is a run of Latin letters or digits; this is the usual
practice (CMRC 2018), AGIEval names no other.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter

from gradeapp.common.normal_form import normal_form

_REMOVED = (r"^{\circ}", r"^\circ", r"\$")


def exact_match(gold: str, answer: str) -> bool:
    """Return whether both have the same normal form; an empty answer matches nothing.

    If a normal form cannot be made (an incomplete root, two units), the texts are
    compared as they are, as in the released program.
    Takes time linear in the length of both texts.
    """
    if not answer.strip():
        return False
    try:
        return published_form(gold) == published_form(answer)
    except (IndexError, ValueError):
        return gold == answer


def published_form(text: str) -> str:
    """Return the normal form of the released program.

    Raises IndexError for a root or fraction without an argument, ValueError for two units.
    """
    text = text.replace("\n", "").replace(r"\!", "").replace("\\\\", "\\")
    text = text.replace("tfrac", "frac").replace("dfrac", "frac")
    text = text.replace(r"\left", "").replace(r"\right", "")
    for removed in _REMOVED:
        text = text.replace(removed, "")
    # The program takes text after "\text{ " for a unit, and expects at most one.
    text, *units = text.split(r"\text{ ")
    if len(units) > 1:
        raise ValueError("two units")
    text = text.replace(r"\%", "").replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    if text[0] == ".":
        text = "0" + text
    sides = text.split("=")
    if len(sides) == 2 and len(sides[0]) <= 2:
        text = sides[1]
    first, *roots = text.split(r"\sqrt")
    braced = [part if part[:1] == "{" else f"{{{part[0]}}}{part[1:]}" for part in roots]
    text = _fractions("".join((first, *(rf"\sqrt{part}" for part in braced))).replace(" ", ""))
    if text == "0.5":
        return r"\frac{1}{2}"
    match = re.fullmatch(r"(-?\d+)/(-?\d+)", text)
    if match is None or text != f"{int(match[1])}/{int(match[2])}":
        return text
    return rf"\frac{{{match[1]}}}{{{match[2]}}}"


def _fractions(text: str) -> str:
    r"""Put braces into \frac12 and \frac1{2}."""
    first, *others = text.split(r"\frac")
    if any(len(part) == 1 and part != "{" for part in others):
        return text
    for part in others:
        if part[0] != "{":
            below = part[1:] if part[1] == "{" else f"{{{part[1]}}}{part[2:]}"
            part = f"{{{part[0]}}}{below}"
        first += rf"\frac{part}"
    return first


_ARTICLES = frozenset(("a", "an", "the"))
_CHINESE_TOKEN = re.compile(r"[A-Za-z0-9]+|[^\W_]")


def f1(gold: str, answer: str, language: str) -> float:
    """Return the harmonic mean of precision and recall, 0 to 1; an empty side gives 0.

    Tokens are characters if *language* begins with "zh", else words; each counts as often
    as it occurs on both sides.
    Takes time linear in the length of both texts.
    """
    wanted, given = (Counter(tokens(text, language)) for text in (gold, answer))
    common = (wanted & given).total()
    if not common:
        return 0.0
    precision, recall = common / given.total(), common / wanted.total()
    return 2 * precision * recall / (precision + recall)


def tokens(text: str, language: str) -> list[str]:
    """Return the tokens of *text* in order: lower case, no punctuation, no English articles."""
    text = normal_form("NFKC", text).lower()
    if language.startswith("zh"):
        return _CHINESE_TOKEN.findall(text)
    bare = "".join(
        c for c in text if not (c in string.punctuation or unicodedata.category(c).startswith("P"))
    )
    return [word for word in bare.split() if word not in _ARTICLES]
