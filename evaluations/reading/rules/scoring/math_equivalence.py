"""Equality of an answer in mathematics and the gold answer.

Steps: the same normal form; then the same shape with the same values, compared
exactly if the numbers are rational or made of roots, else to many digits at fixed
points (see math_zero and math_functions). Limits are checked before every step, and
no text is evaluated as code. A comparison that cannot be decided returns a reason.

Equal: a fraction and its decimal, a set in another order, a unit that only one side
has, degrees without their sign, "x =" before a value. Not equal: 50 and 50 %, 0.333
and 1/3, an open and a closed end, points with exchanged coordinates. These
conventions are ours; AGIEval's own comparison is in ``exact_match``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from evaluations.reading.rules.scoring.math_compare import Comparing
from evaluations.reading.rules.scoring.math_nodes import GaveUp, Undecided
from evaluations.reading.rules.scoring.math_read import read
from evaluations.reading.rules.scoring.math_shapes import Shape
from evaluations.reading.rules.scoring.math_text import normal_text, split
from evaluations.reading.rules.scoring.math_value_text import with_letter_unit

MOST_CHARACTERS = 2000
MOST_RAW_CHARACTERS = 20_000
MOST_ALTERNATIVES = 4
_ALTERNATIVE = re.compile(r"#\s*#")
_EMPTY_SET = re.compile(r"\\?\{\s*\\?\}")
# "R" is the set of real numbers or a variable, such as a radius.
_LETTER_OF_REALS = re.compile(r"(?:[a-z]\s*\\in\s*)?R")
_PLAIN = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")


@dataclass(frozen=True, slots=True)
class Comparison:
    """``equal`` is True or False, or None with the ``reason`` for giving up.

    ``method``: text (same normal form), form (structure), exact, algebraic,
    points or numeric, the least certain of those used; "" if given up.
    """

    equal: bool | None
    method: str
    reason: Undecided | None = None


def equivalent(gold: str, answer: str) -> Comparison:
    """Compare *answer* with *gold*; symmetric; nothing equals an empty text.

    The time is bounded for any text; no text raises an exception.
    """
    if max(len(gold), len(answer)) > MOST_RAW_CHARACTERS:
        same = gold == answer and any(character.isalnum() for character in gold)
        return Comparison(True, "text") if same else Comparison(None, "", Undecided.TOO_LONG)
    left, right = normal_text(gold), normal_text(answer)
    if not _content(left) or not _content(right):
        return Comparison(False, "text")
    if left.replace(" ", "") == right.replace(" ", ""):
        return Comparison(True, "text")
    if _PLAIN.fullmatch(left) and _PLAIN.fullmatch(right):  # the usual case, fast
        return Comparison(Fraction(left) == Fraction(right), "exact")
    if max(len(left), len(right)) > MOST_CHARACTERS:
        return Comparison(None, "", Undecided.TOO_LONG)
    return _compared(left, right)


def _content(text: str) -> bool:
    return any(character.isalnum() for character in text) or bool(_EMPTY_SET.fullmatch(text))


def _compared(left: str, right: str) -> Comparison:
    """Compare all readings; equal if one pair is, else the first pair gives the result."""
    first: Comparison | None = None
    try:
        readings = [_readings(text) for text in (left, right)]
        for one, other in product(*readings):
            comparing = Comparing()
            verdict = comparing.same(one, other)
            if verdict:
                return Comparison(True, comparing.method)
            if first is None:
                method = "" if verdict is None else comparing.method
                first = Comparison(verdict, method, None if verdict is False else comparing.reason)
    except GaveUp as gave_up:
        return Comparison(None, "", gave_up.reason)
    return first or Comparison(None, "", Undecided.NOT_READ)


def _readings(text: str) -> list[Shape]:
    """Return the possible readings: "1,234" is one number or two, "5 m" a product or a length.

    Some published keys have alternatives, separated by ##: each is a reading.
    """
    alternatives = [part for part in _ALTERNATIVE.split(text) if part.strip()]
    if len(alternatives) > 1:
        return [reading for part in alternatives[:MOST_ALTERNATIVES] for reading in _readings(part)]
    readings = [read(text)]
    pieces = split(text, ",")
    if len(pieces) > 1:
        spaced = read(", ".join(pieces))
        readings += [spaced] if spaced != readings[0] else []
    if _LETTER_OF_REALS.fullmatch(text):
        readings.append(read(r"\mathbb{R}"))
    length = with_letter_unit(text)
    return readings + ([length] if length else [])
