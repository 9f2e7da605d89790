"""Read a mark as people and models write it: ``8``, ``7.5``, ``4+4=8``, ``十二点五分``.

Only [0-9] and a strict grammar of Chinese numerals are digits; full-width characters are mapped by
a table. Unicode digits, or NFKC, would read "10²" as 102. Every quantifier is bounded, so input
such as "1e9999999" is cheap.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from math import prod

FULL_WIDTH = str.maketrans("０１２３４５６７８９．：／－＋＝", "0123456789.:/-+=")

_NUMBER = r"(?:0|[1-9][0-9]{0,3})(?:\.[0-9]{1,4})?"
_UNIT = r"\s?(?:分|points?|marks?)?\s?"
_VALUE = re.compile(
    r"\s{0,3}(?P<hedge>约|大约|大概|接近|不足|至少|至多|最多|≈|~"
    r"|about|around|approximately|roughly|nearly|between|at least|at most|from)?"
    r"\s{0,3}(?P<minus>[-−]|负|minus )?\s?"
    rf"(?:(?P<number>{_NUMBER})|(?P<han>[零〇一二两三四五六七八九十百点]{{1,9}})(?=\s?分))",
    re.IGNORECASE,
)
_SUM = re.compile(rf"(?P<rest>(?:\s?[+*×]\s?{_NUMBER}){{1,30}})\s?分?\s?=\s?(?P<sum>{_NUMBER})")
_OUT_OF = re.compile(rf"{_UNIT}(?:/|out of|of)\s?(?:满分)?\s?({_NUMBER})", re.IGNORECASE)
_NOT_A_MARK = re.compile(rf"{_UNIT}(?:possible|available|中的)", re.IGNORECASE)
# After these a number is not a plain mark: more digits, a decimal comma, an exponent, a
# superscript, a percentage, "8 and a half", a range.
_UNCLEAR = re.compile(
    r"[0-9]|\.[0-9]|[,，][0-9]|[eE][+-]?[0-9]|[²³¹⁰-⁹₀-₉½¼¾_^]|\s?[%％]|\s?分?半|\s?[+*×][0-9]"
    r"|\s{0,2}分?\s{0,2}(?:~|～|—|–|-|到|至|to|or|或)\s{0,2}[0-9]"
)
_HAN = re.compile(
    r"(?:(?P<hundreds>[一二两三四五六七八九])百(?P<zero>[零〇])?)?"
    r"(?:(?P<tens>[一二三四五六七八九])?(?P<ten>十))?"
    r"(?P<ones>[一二两三四五六七八九])?(?P<nought>[零〇])?"
    r"(?:点(?P<decimals>[零〇一二三四五六七八九]{1,2}))?"
)
_HAN_DIGITS = {character: str(digit) for digit, character in enumerate("零一二三四五六七八九")}
_HAN_DIGITS |= {"〇": "0", "两": "2"}


@dataclass(frozen=True, slots=True)
class WrittenMark:
    """A number in a text; ``value`` is None if it is not one clear mark."""

    value: Decimal | None
    out_of: Decimal | None
    end: int


def read_mark(text: str, position: int) -> WrittenMark | None:
    """Return the mark at *position* (after blanks); None if there is no number.

    *text* has been mapped by ``FULL_WIDTH``. ``out_of`` is the denominator, if one is written
    ("8/10", "8 out of 10").
    """
    match = _VALUE.match(text, position)
    if match is None or _NOT_A_MARK.match(text, match.end()):
        return None
    value = Decimal(match["number"]) if match["number"] else _han_numeral(match["han"])
    end = match.end()
    if value is not None and (whole := _SUM.match(text, end)):
        # The right-hand side of "4+4=8" counts only if the left-hand side equals it.
        terms = ((match["number"] or "") + whole["rest"]).replace("×", "*").split("+")
        total = sum(prod(map(Decimal, term.split("*"))) for term in terms)
        value, end = Decimal(whole["sum"]), whole.end()
        value = value if value == total else None
    if value is None or match["hedge"] or _UNCLEAR.match(text, end):
        return WrittenMark(None, None, end)
    if match["minus"] and value:
        value = -value
    out_of = _OUT_OF.match(text, end)
    if out_of is None:
        return WrittenMark(value, None, end)
    full = None if _UNCLEAR.match(text, out_of.end()) else Decimal(out_of[1])
    return WrittenMark(value if full is not None else None, full, out_of.end())


def _han_numeral(text: str) -> Decimal | None:
    """Return 12.5 for "十二点五"; None if *text* is not a standard numeral below 1000."""
    match = _HAN.fullmatch(text)
    if match is None or not _is_standard(match):
        return None
    tens = _HAN_DIGITS[match["tens"]] if match["tens"] else ("1" if match["ten"] else "0")
    hundreds = _HAN_DIGITS[match["hundreds"]] if match["hundreds"] else "0"
    ones = _HAN_DIGITS[match["ones"]] if match["ones"] else "0"
    decimals = "".join(_HAN_DIGITS[character] for character in match["decimals"] or "零")
    return Decimal(f"{hundreds}{tens}{ones}.{decimals}")


def _is_standard(match: re.Match[str]) -> bool:
    """Return whether the numeral is unambiguous: not "一百五" (150 or 105?), "十零", or empty."""
    integer = (match["hundreds"], match["ten"], match["ones"])
    if match["nought"]:
        return not any(integer)
    if match["hundreds"] and match["ones"] and not match["ten"]:
        return bool(match["zero"])
    return any(integer)
