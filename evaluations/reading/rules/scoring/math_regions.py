"""Parts of the real line: intervals, unions, and inequalities solved for one variable."""

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
    """An interval from ``low`` to ``high``, formulas without variables, possibly infinite."""

    low: Node
    low_closed: bool
    high: Node
    high_closed: bool


Region = tuple[Interval, ...]


def order(left: Node, right: Node) -> int:
    """Return -1, 0 or 1 if *left* is smaller than, equal to or larger than *right*."""
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
    """Return the same numbers as intervals that do not touch, in ascending order."""
    if len(pieces) > MOST_PIECES:
        raise GaveUp(Undecided.TOO_MANY)
    kept = []
    for piece in pieces:
        compared = order(piece.low, piece.high)
        if compared < 0 or (compared == 0 and piece.low_closed and piece.high_closed):
            kept.append(piece)
    kept.sort(key=cmp_to_key(lambda a, b: order(a.low, b.low) or b.low_closed - a.low_closed))
    result: list[Interval] = []
    for piece in kept:
        left = result[-1] if result else None
        gap = order(left.high, piece.low) if left else -1
        if left is None or gap < 0 or (gap == 0 and not (left.high_closed or piece.low_closed)):
            result.append(piece)
            continue
        compared = order(left.high, piece.high)
        closed = (left.high_closed and compared >= 0) or (piece.high_closed and compared <= 0)
        high = left.high if compared >= 0 else piece.high
        result[-1] = Interval(left.low, left.low_closed, high, closed)
    return tuple(result)


def intersected(one: Region, other: Region) -> Region:
    """Return the numbers that are in both."""
    if len(one) * len(other) > MOST_PIECES**2:
        raise GaveUp(Undecided.TOO_MANY)
    pieces = []
    for a in one:
        for b in other:
            low, high = order(a.low, b.low), order(a.high, b.high)
            low_closed = (a.low_closed or low < 0) and (b.low_closed or low > 0)
            high_closed = (a.high_closed or high > 0) and (b.high_closed or high < 0)
            ends = (a if low >= 0 else b).low, (a if high <= 0 else b).high
            pieces.append(Interval(ends[0], low_closed, ends[1], high_closed))
    return united(tuple(pieces))


def same_region(one: Region, other: Region) -> bool:
    """Return whether both contain the same numbers."""
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
    """Return the region of "a < x", "x \\ge a", "a < x \\le b" or "x \\ne a", None for others."""
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
    """Return the region of the numbers in the relation *sign* to *bound*."""
    below = Interval(MINUS_INFINITY, False, bound, sign == r"\le")
    above = Interval(bound, sign == r"\ge", INFINITY, False)
    if sign == r"\ne":
        return united((below, above))
    return united((below,) if sign in ("<", r"\le") else (above,))
