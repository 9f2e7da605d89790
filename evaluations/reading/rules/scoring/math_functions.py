"""Equality of two expressions with variables, and of two equations, at fixed points."""

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
from evaluations.reading.rules.scoring.math_zero import size_of, zero

# Small and large, positive and negative, no round numbers; each variable takes them in turn.
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
    """Return whether both are the same number, or agree at all points where both are real.

    The points are twelve fixed fractions; at least three must be valid, compared to
    forty digits or more (exactly, for rational functions). The methods used are added
    to *methods*. Raises GaveUp if too few points are valid, and if only one side is real
    at some point (ln x^2 and 2 ln x): they agree only in part.
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
    complex_meant = contains(one, "const", "i") or contains(other, "const", "i")
    counted, partial = 0, False
    for values in _assignments(names):
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


def _assignments(names: list[str]) -> list[Values]:
    """Return the points: a different value for each of *names*."""
    return [
        {name: _POINTS[(turn + 5 * place) % len(_POINTS)] for place, name in enumerate(names)}
        for turn in range(len(_POINTS))
    ]


def _at(one: Node, other: Node, values: Values, complex_meant: bool) -> bool | str | None:
    """Return whether both are equal at a point; None if only one has a value there, "" if none."""
    left, right = (_defined(exact, node, values) for node in (one, other))
    if isinstance(left, Fraction) and isinstance(right, Fraction):
        return left == right
    size = max(part.above + part.below for part in (size_of(one, values), size_of(other, values)))
    if size > 1000:
        raise GaveUp(Undecided.TOO_LARGE)
    at = context(int(_LEAST_DIGITS + 15 + 2 * size))
    found = [_defined(digits_of, node, values, at) for node in (one, other)]
    known = [value for value in found if value is not None]
    real = [
        complex_meant or is_real(at.chop(value, at.mpf(10) ** -_LEAST_DIGITS)) for value in known
    ]
    if len(known) < 2 or not all(real):
        if not known or not any(real):
            return ""
        # The zero of a denominator is not counted as a difference of domains.
        return None if len(known) == 2 else ""
    limit = at.mpf(10) ** -_LEAST_DIGITS * max(1, abs(known[0]), abs(known[1]))
    return bool(abs(known[0] - known[1]) <= limit)


def _defined(value_of: Callable[..., Any], *args: Any) -> Any:
    """Return ``value_of(*args)``, None if the value is undefined."""
    try:
        return value_of(*args)
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.UNDEFINED:
            return None
        raise


_DIGITS = 80
_AGREEING = 40

Fractional = tuple[Any, Any]


def same_curve(one: Node, other: Node, methods: set[str]) -> bool:
    """Return whether left minus right of two equations differ only by a factor other than zero.

    Fractions are cleared first, so that y = 1/x is xy = 1. The factor is compared at the
    points of ``same_values``, to forty digits. Raises GaveUp if too few points are
    valid, and if roots or functions might hide a factor.
    """
    if variables(one) != variables(other):
        return False
    names = sorted(variables(one))
    if len(names) > MOST_VARIABLES:
        raise GaveUp(Undecided.TOO_MANY)
    methods.add("points")
    at = context(_DIGITS)
    tiny = at.mpf(10) ** -_AGREEING
    factors = []
    for values in _assignments(names):
        sides = _defined(lambda values: [_cleared(n, values, at)[0] for n in (one, other)], values)
        if sides and all(abs(side) > tiny and is_real(side) for side in sides):
            factors.append(sides[0] / sides[1])
    if len(factors) < LEAST_POINTS:
        raise GaveUp(Undecided.UNDEFINED)
    return all(abs(factor - factors[0]) <= abs(factors[0]) * tiny for factor in factors)


def _cleared(node: Node, values: Values, at: MPContext) -> Fractional:
    """Return numerator and denominator of *node* at a point, without dividing."""
    if node.op not in ("add", "mul", "neg", "div"):
        return digits_of(node, values, at), at.mpf(1)
    (above, below), *others = (_cleared(part, values, at) for part in node.args)
    if node.op == "neg":
        return -above, below
    for over, under in others:
        if node.op == "mul":
            above, below = above * over, below * under
        elif node.op == "div":
            above, below = above * under, below * over
        elif under == below:
            above = above + over
        else:
            above, below = above * under + over * below, below * under
    return above, below
