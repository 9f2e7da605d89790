"""Tests whether a formula without free variables is zero, and by which method.

Three methods, the most certain first. ``exact``: rational arithmetic.
``algebraic``: a number made of rationals and roots that is smaller than any such
number other than zero, by the separation bound of Burnikel, Funke, Mehlhorn, Schirra
and Schmitt (A separation bound for real algebraic expressions, ESA 2001): with U and
L by their rules for numerator and denominator, and D the product of the indices of
the roots, a number other than zero is at least 1 / (U**(D-1) * L). ``numeric``: for
pi, e, logarithms or angles no bound is known; the number vanishes to more digits than
the formula has, and at least to thirty.

Different from the paper: we compute digits far beyond the bound instead of an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided, contains
from evaluations.reading.rules.scoring.math_values import (
    MOST_MAGNITUDE,
    MOST_ROOT,
    Values,
    context,
    decimal_size,
    digits_of,
    exact,
)

MOST_DIGITS = 3000
LEAST_DIGITS = 50
# Proofs are for numbers of moderate degree; above it the digits decide.
MOST_DEGREE = 4096


@dataclass(frozen=True, slots=True)
class Size:
    """Decimal logarithms of U and L, and the roots inside (None if it is not algebraic)."""

    above: float
    below: float
    roots: frozenset[tuple[Node, int]] | None

    @property
    def degree(self) -> int:
        degree = 1
        for _, index in self.roots or ():
            degree = min(degree * index, MOST_DEGREE + 1)
        return degree


@dataclass(frozen=True, slots=True)
class Zero:
    """Whether a formula is zero, and the method that decided."""

    is_zero: bool
    method: str


def zero(node: Node, values: Values) -> Zero:
    """Test whether *node* at *values* is zero; raise GaveUp if it has no value or is too large."""
    rational = exact(node, values)
    if rational is not None:
        return Zero(not rational, "exact")
    size = size_of(node, values)
    digits = LEAST_DIGITS + 2 * size.above + size.below
    if not _vanishes(node, values, size, digits):
        return Zero(False, "numeric")
    bound = (size.degree - 1) * size.above + size.below
    proof = bound + 2 * size.above + LEAST_DIGITS
    if size.roots is not None and size.degree <= MOST_DEGREE and proof <= MOST_DIGITS:
        return Zero(_vanishes(node, values, size, proof), "algebraic")
    return Zero(_vanishes(node, values, size, 2 * digits + LEAST_DIGITS), "numeric")


def _vanishes(node: Node, values: Values, size: Size, digits: float) -> bool:
    """Return whether *node*, computed to so many digits, is not larger than its error."""
    if digits > MOST_DIGITS:
        raise GaveUp(Undecided.TOO_LARGE)
    at = context(int(digits) + 1)
    return bool(abs(digits_of(node, values, at)) <= at.mpf(10) ** int(size.above + 15 - at.dps))


def size_of(node: Node, values: Values) -> Size:
    """Return U, L and the roots of *node*, with *values* for its variables."""
    rational = exact(node, values) if node.op in ("num", "var", "factorial", "binomial") else None
    if rational is not None:
        return Size(*decimal_size(rational), frozenset())
    if node.op == "const":
        roots = frozenset({(node, 2)}) if node.name == "i" else None
        return Size(0.0 if node.name == "i" else 0.5, 0.0, roots)
    parts = [size_of(part, values) for part in node.args]
    match node.op:
        case "neg":
            return parts[0]
        case "abs":  # of a real number one of two signs, of a complex one a number of its own
            roots = None if contains(node, "const", "i") else parts[0].roots
            return Size(parts[0].above, parts[0].below, roots)
        case "percent":
            return Size(parts[0].above, parts[0].below + 2, parts[0].roots)
        case "add":
            below = sum(part.below for part in parts)
            largest = max(part.above - part.below for part in parts)
            return Size(max(below + largest, 0.0) + len(parts) * 0.31, below, _roots(parts))
        case "mul":
            above = sum(part.above for part in parts)
            return Size(above, sum(part.below for part in parts), _roots(parts))
        case "div":
            over, under = parts
            return Size(over.above + under.below, over.below + under.above, _roots(parts))
        case "root":
            return _rooted(parts[0], node, exact(node.args[1], values))
        case "pow":
            return _powered(parts, node, exact(node.args[1], values))
    large = MOST_MAGNITUDE if node.name in ("exp", "sinh", "cosh", "tanh") else 2
    return Size(sum(part.above + part.below for part in parts) + large, 0.0, None)


def _roots(parts: list[Size]) -> frozenset[tuple[Node, int]] | None:
    sets = [part.roots for part in parts if part.roots is not None]
    return frozenset().union(*sets) if len(sets) == len(parts) else None


def _rooted(part: Size, node: Node, index: Fraction | None) -> Size:
    if index is None or index.denominator != 1 or not 1 <= index <= MOST_ROOT:
        raise GaveUp(Undecided.NOT_READ)
    k = index.numerator
    roots = None if part.roots is None else part.roots | {(node, k)}
    if part.above >= part.below:
        return Size((part.above + (k - 1) * part.below) / k, part.below, roots)
    return Size(part.above, ((k - 1) * part.above + part.below) / k, roots)


def _powered(parts: list[Size], node: Node, power: Fraction | None) -> Size:
    base = parts[0]
    if power is None or power.denominator > MOST_ROOT:
        rest = base.above + base.below + parts[1].above + parts[1].below
        return Size(MOST_MAGNITUDE + rest, 0.0, None)
    times = abs(power.numerator)
    root = _rooted(base, node, Fraction(power.denominator)) if power.denominator > 1 else base
    above, below = root.above * times, root.below * times
    return Size(below, above, root.roots) if power < 0 else Size(above, below, root.roots)
