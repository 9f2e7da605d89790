"""x"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath.ctx_mp import MPContext

from evaluations.reading.rules.scoring.math_nodes import (
    GaveUp,
    Node,
    Undecided,
    contains,
    variables,
)
from evaluations.reading.rules.scoring.math_values import Values, context, digits_of, exact, is_real
from evaluations.reading.rules.scoring.math_zero import Size, size_of, zero

# Small and large, positive and negative, none at a round place; a variable takes them in turn.
_POINTS = tuple(
    Fraction(point)
    for point in (
        *("37/101", "-29/107", "83/103", "-71/89", "173/97", "241/79"),
        *("-187/83", "523/73", "-361/67", "797/61", "1361/59", "2203/53"),
    )
)
LEAST_POINTS = 3
MOST_VARIABLES = 8
_LEAST_DIGITS = 40


def same_values(one: Node, other: Node, methods: set[str]) -> bool:
    """True where both are the same number, or agree at all points where both are real.

    The points are twelve fixed fractions; at least three must count, each to
    forty digits or more (exactly, for rational functions). GaveUp where too
    few points count, and where one side is real at a point and the other not
    (ln x^2 and 2 ln x): they agree only in part.
    """
    if one == other and not variables(one):
        size_of(one, {})
    difference = Node("add", (one, Node("neg", (other,))))
    names = sorted(variables(difference))
    if not names:
        found = zero(difference, {})
        methods.add(found.method)
        return found.is_zero
    if len(names) > MOST_VARIABLES:
        raise GaveUp(Undecided.TOO_MANY)
    methods.add("points")
    return _agree(one, other, names)


def assignments(names: list[str]) -> list[Values]:
    """The points, one value for each of *names*, a different one for each."""
    return [
        {name: _POINTS[(turn + 5 * place) % len(_POINTS)] for place, name in enumerate(names)}
        for turn in range(len(_POINTS))
    ]


def _agree(one: Node, other: Node, names: list[str]) -> bool:
    complex_meant = contains(one, "const", "i") or contains(other, "const", "i")
    counted, partial = 0, False
    for values in assignments(names):
        verdict = _at(one, other, values, complex_meant)
        if verdict is False:
            return False
        counted += verdict is True
        partial |= verdict is None
    if counted < LEAST_POINTS:
        raise GaveUp(Undecided.UNDEFINED)
    if partial:
        raise GaveUp(Undecided.DOMAINS)
    return True


def _at(one: Node, other: Node, values: Values, complex_meant: bool) -> bool | str | None:
    """Equal or not at one point; None where only one has a value there, "" where none has."""
    left, right = _exactly(one, values), _exactly(other, values)
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    size = _larger(size_of(one, values), size_of(other, values))
    at = context(int(_LEAST_DIGITS + 15 + 2 * size))
    found = [_digits(node, values, at) for node in (one, other)]
    known = [value for value in found if value is not None]
    real = [
        complex_meant or is_real(at.chop(value, at.mpf(10) ** -_LEAST_DIGITS)) for value in known
    ]
    if len(known) < 2 or not all(real):
        if not known or not any(real):
            return ""
        # A hole of a fraction is no part of a domain that anybody states.
        return None if len(known) == 2 else ""
    limit = at.mpf(10) ** -_LEAST_DIGITS * max(1, abs(known[0]), abs(known[1]))
    return bool(abs(known[0] - known[1]) <= limit)


def _larger(one: Size, other: Size) -> float:
    size = max(one.above + one.below, other.above + other.below)
    if size > 1000:
        raise GaveUp(Undecided.TOO_LARGE)
    return size


def _exactly(node: Node, values: Values) -> Fraction | None:
    try:
        return exact(node, values)
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.UNDEFINED:
            return None
        raise


def _digits(node: Node, values: Values, at: MPContext) -> Any:
    try:
        return digits_of(node, values, at)
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.UNDEFINED:
            return None
        raise


_DIGITS = 80
_AGREEING = 40

Fractional = tuple[Any, Any]


def same_curve(one: Node, other: Node, methods: set[str]) -> bool:
    """True where left minus right of both differ by a factor other than zero only.

    Fractions are cleared first, so that y = 1/x is xy = 1. The factor is
    compared at the fixed points of expressions, to forty digits. GaveUp where
    too few points count, and where roots or functions might hide a factor.
    """
    if variables(one) != variables(other):
        return False
    names = sorted(variables(one))
    if len(names) > MOST_VARIABLES:
        raise GaveUp(Undecided.TOO_MANY)
    methods.add("points")
    at = context(_DIGITS)
    factors = [
        factor for values in assignments(names) if (factor := _factor(one, other, values, at))
    ]
    if len(factors) < LEAST_POINTS:
        raise GaveUp(Undecided.UNDEFINED)
    first = factors[0]
    return all(abs(factor - first) <= abs(first) * at.mpf(10) ** -_AGREEING for factor in factors)


def _factor(one: Node, other: Node, values: Values, at: MPContext) -> Any:
    """The quotient of the two sides at a point; None where it has none there."""
    try:
        above, below = cleared(one, values, at)[0], cleared(other, values, at)[0]
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.UNDEFINED:
            return None
        raise
    tiny = at.mpf(10) ** -_AGREEING
    if abs(below) <= tiny or abs(above) <= tiny or not (is_real(above) and is_real(below)):
        return None
    return above / below


def cleared(node: Node, values: Values, at: MPContext) -> Fractional:
    """Numerator and denominator of *node* at a point, as fractions are added by hand."""
    parts = [cleared(part, values, at) for part in node.args] if node.op in _CLEARED else []
    if parts:
        return _CLEARED[node.op](parts)
    return digits_of(node, values, at), at.mpf(1)


def _sum(parts: list[Fractional]) -> Fractional:
    above, below = parts[0]
    for over, under in parts[1:]:
        if under == below:
            above = above + over
        else:
            above, below = above * under + over * below, below * under
    return above, below


def _product(parts: list[Fractional]) -> Fractional:
    above, below = parts[0]
    for over, under in parts[1:]:
        above, below = above * over, below * under
    return above, below


_CLEARED: dict[str, Callable[[list[Fractional]], Fractional]] = {
    "add": _sum,
    "mul": _product,
    "neg": lambda parts: (-parts[0][0], parts[0][1]),
    "div": lambda parts: (parts[0][0] * parts[1][1], parts[0][1] * parts[1][0]),
}
