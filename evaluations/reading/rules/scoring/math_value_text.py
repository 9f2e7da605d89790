"""An expression with its currency sign, unit or degrees."""

from __future__ import annotations

import re

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided, variables
from evaluations.reading.rules.scoring.math_parse import parse
from evaluations.reading.rules.scoring.math_shapes import Value
from evaluations.reading.rules.scoring.math_tokens import CONSTANTS, FUNCTIONS, GREEK
from evaluations.reading.rules.scoring.math_units import is_known, unit_of

_CURRENCY = re.compile(r"\A([+-]?)\s*(?:[$¥￥£€]|US\$|RMB|CNY|USD)\s*(?=[\d.\\(+-])")
_TEXT = re.compile(r"\\text\{([^{}]*)\}")
_WORD = r"[A-Za-zΩμ℃\u4e00-\u9fff]+\.?"
_TAIL = re.compile(
    rf"(?<=[\d)}}\]°%!\sa-zA-Z|])\s*((?:{_WORD}(?:\s*\^\s*\{{?\s*-?\d\s*\}}?)?)"
    rf"(?:(?:\s*/\s*|\s*\\cdot\s*|\s+){_WORD}(?:\s*\^\s*\{{?\s*-?\d\s*\}}?)?){{0,4}})\Z"
)
_ANGLE = {"degree", "degrees", "度", "deg"}
_RADIAN = {"rad", "radian", "radians", "弧度"}
# One letter after a number may be a unit or a variable: "5 m".
LETTER_UNITS = frozenset("mgshLNJVWAt")


def value_of(text: str) -> Value:
    """Return the expression of *text* and its unit; raise GaveUp if it is no expression."""
    money = _CURRENCY.search(text)
    text = _CURRENCY.sub(r"\1", text).removesuffix("$")
    cut = _worded(text) or _plain(text)
    if cut is None:
        return Value(parse(text), unit_of("dollar") if money else None)
    head, words = cut
    if words.lower() in _ANGLE:
        return Value(Node("degree", (parse(head),)))
    if words.lower() in _RADIAN:
        return Value(parse(head))
    return Value(parse(head), unit_of(words))


def with_letter_unit(text: str) -> Value | None:
    """Read a number and one letter ("5m") as a value with a unit, None if that is impossible."""
    match = re.fullmatch(r"(.*[\d)}])\s*(([A-Za-z])(?:\s*[\^/]\s*[\w{}^]{1,8})?)", text)
    if match is None or match[3] not in LETTER_UNITS or not is_known(match[2]):
        return None
    try:
        node = parse(match[1])
    except GaveUp:
        return None
    return None if variables(node) else Value(node, unit_of(match[2]))


def _worded(text: str) -> tuple[str, str] | None:
    r"""Return number and unit of "17\text{ meters}" and "3 \text{ m}/\text{s}^2"."""
    match = _TEXT.search(text)
    if match is None:
        return None
    head, tail = text[: match.start()].strip(), _TEXT.sub(r"\1", text[match.start() :]).strip()
    if not head or not tail or re.search(r"[=<>]|\d[A-Za-z\d]", tail):
        raise GaveUp(Undecided.NOT_READ)
    return head, tail


def _plain(text: str) -> tuple[str, str] | None:
    """Return number and unit of "5 cm", "8 meals" and "12种", None for a product of names."""
    match = _TAIL.search(text)
    if match is None:
        return None
    head, words = text[: match.start()].strip(), match[1].strip().rstrip(".")
    if not re.search(r"\d|\\pi|pi", head) or head.endswith(("\\", "_", "^", "{")):
        return None
    first = re.split(r"[\s/^\\]", words)[0]
    chinese = not words.isascii()
    named = first in FUNCTIONS or first in CONSTANTS or first in GREEK or first == "sqrt"
    if named or (len(first) == 1 and not chinese):
        return None
    spaced = text[match.start(1) - 1].isspace() and len(first) > 2
    return (head, words) if chinese or spaced or is_known(words) else None


def without_words(text: str) -> str:
    r"""Return *text* with its words outside \text{}."""
    return _TEXT.sub(r"\1", text).strip()


def looks_like_formula(text: str) -> bool:
    """Return whether *text* contains signs of mathematics, not only words."""
    return bool(re.search(r"[\d\\=^_+*/<>|]", _TEXT.sub(r"\1", text)))
