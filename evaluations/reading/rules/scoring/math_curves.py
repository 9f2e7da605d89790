"""Whether two equations describe the same curve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mpmath.ctx_mp import MPContext

from evaluations.reading.rules.scoring.math_functions import (
    LEAST_POINTS,
    MOST_VARIABLES,
    assignments,
)
from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided, variables
from evaluations.reading.rules.scoring.math_values import Values, context, digits_of, is_real

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
