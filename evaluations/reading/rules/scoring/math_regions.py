"""x"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cmp_to_key

from evaluations.reading.rules.scoring.math_nodes import (
    GaveUp,
    Node,
    Undecided,
    infinite_sign,
    variables,
)
from evaluations.reading.rules.scoring.math_parse import parse
from evaluations.reading.rules.scoring.math_values import context, digits_of, is_real
from evaluations.reading.rules.scoring.math_zero import zero

MOST_PIECES = 20
INFINITY = Node("const", name="inf")
MINUS_INFINITY = Node("neg", (INFINITY,))


@dataclass(frozen=True, slots=True)
class Interval:
    """From ``low`` to ``high`` (formulas without variables, perhaps infinite)."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


Region = tuple[Interval, ...]


def order(left: Node, right: Node) -> int:
    """-1, 0 or 1 as *left* is smaller than, equal to or larger than *right*."""
    signs = infinite_sign(left), infinite_sign(right)
    if any(signs):
        return (signs[0] > signs[1]) - (signs[0] < signs[1])
    difference = Node("add", (left, Node("neg", (right,))))
    if zero(difference, {}).is_zero:
        return 0
    value = digits_of(difference, {}, context(120))
    if not is_real(value):
        raise GaveUp(Undecided.UNDEFINED)
    return 1 if value > 0 else -1


def united(pieces: Region) -> Region:
    """The same numbers in pieces that do not touch, from left to right."""
    if len(pieces) > MOST_PIECES:
        raise GaveUp(Undecided.TOO_MANY)
    kept = [piece for piece in pieces if not _is_empty(piece)]
    kept.sort(
        key=cmp_to_key(
            lambda one, other: order(one.low, other.low) or other.low_closed - one.low_closed
        )
    )
    result: list[Interval] = []
    for piece in kept:
        if result and _touch(result[-1], piece):
            result[-1] = _joined(result[-1], piece)
        else:
            result.append(piece)
    return tuple(result)


def _is_empty(piece: Interval) -> bool:
    compared = order(piece.low, piece.high)
    return compared > 0 or (compared == 0 and not (piece.low_closed and piece.high_closed))


def _touch(left: Interval, right: Interval) -> bool:
    compared = order(left.high, right.low)
    return compared > 0 or (compared == 0 and (left.high_closed or right.low_closed))


def _joined(left: Interval, right: Interval) -> Interval:
    compared = order(left.high, right.high)
    closed = (left.high_closed and compared >= 0) or (right.high_closed and compared <= 0)
    high = left.high if compared >= 0 else right.high
    return Interval(left.low, left.low_closed, high, closed)


def intersected(one: Region, other: Region) -> Region:
    """The numbers that lie in both."""
    if len(one) * len(other) > MOST_PIECES**2:
        raise GaveUp(Undecided.TOO_MANY)
    return united(tuple(_overlap(left, right) for left in one for right in other))


def _overlap(one: Interval, other: Interval) -> Interval:
    low, high = order(one.low, other.low), order(one.high, other.high)
    return Interval(
        one.low if low >= 0 else other.low,
        (one.low_closed or low < 0) and (other.low_closed or low > 0),
        one.high if high <= 0 else other.high,
        (one.high_closed or high > 0) and (other.high_closed or high < 0),
    )


def same_region(one: Region, other: Region) -> bool:
    """True where both hold the same numbers."""
    left, right = united(one), united(other)
    return len(left) == len(right) and all(
        (a.low_closed, a.high_closed) == (b.low_closed, b.high_closed)
        and not order(a.low, b.low)
        and not order(a.high, b.high)
        for a, b in zip(left, right, strict=True)
    )


_SIGN = re.compile(r"\\(?:le|ge|ne)(?![a-z])|[<>=]")
_TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", r"\ne": r"\ne"}


def inequality(text: str) -> Region | None:
    """The numbers that "a < x", "x \\ge a", "a < x \\le b" or "x \\ne a" admit, None for others."""
    signs = _SIGN.findall(text)
    sides = _SIGN.split(text)
    if not signs or "=" in signs or len(signs) > 2:
        return None
    try:
        nodes = [parse(side.strip()) for side in sides]
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.NOT_READ:
            return None
        raise
    names = [node.op == "var" for node in nodes]
    constant = [not variables(node) for node in nodes]
    if len(signs) == 1 and names[0] and constant[1]:
        return _half(signs[0], nodes[1])
    if len(signs) == 1 and names[1] and constant[0]:
        return _half(_TURNED[signs[0]], nodes[0])
    if len(signs) == 2 and names[1] and constant[0] and constant[2]:
        return intersected(_half(_TURNED[signs[0]], nodes[0]), _half(signs[1], nodes[2]))
    return None


def _half(sign: str, bound: Node) -> Region:
    """The numbers that stand in the relation *sign* to *bound*."""
    below = Interval(MINUS_INFINITY, False, bound, sign == r"\le")
    above = Interval(bound, sign == r"\ge", INFINITY, False)
    if sign == r"\ne":
        return united((below, above))
    return united((below,) if sign in ("<", r"\le") else (above,))
