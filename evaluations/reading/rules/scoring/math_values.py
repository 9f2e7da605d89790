"""The value of a formula: an exact fraction if it has one, else digits.

Limits are checked before the work: no power, factorial or exponential is computed
before its size is bounded, so a formula within the limits of the parser is fast.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from fractions import Fraction
from math import comb, factorial, log10
from typing import Any

from mpmath.ctx_mp import MPContext

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided

Values = Mapping[str, Fraction]

MOST_BITS = 40_000
MOST_FACTORIAL = 500
MOST_ROOT = 64
# A power that is no exact one is computed up to this power of ten.
MOST_MAGNITUDE = 60


def exact(node: Node, values: Values) -> Fraction | None:
    """Return the value of *node* as a fraction, None if it has none that is rational.

    *values* are those of the variables. Raises GaveUp for 1/0 and for a number too large.
    """
    match node.op:
        case "num":
            return node.value
        case "var":
            return values.get(node.name)
        case "const" | "root" | "call" | "degree":
            return None
    parts = [exact(part, values) for part in node.args]
    known = [part for part in parts if part is not None]
    return _bounded(_exact_result(node.op, known)) if len(known) == len(parts) else None


def _bounded(value: Fraction | None) -> Fraction | None:
    if value is not None and _bits(value) > MOST_BITS:
        raise GaveUp(Undecided.TOO_LARGE)
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _exact_result(op: str, parts: list[Fraction]) -> Fraction | None:
    """Return the result of *op* on the values *parts*; None for an irrational power."""
    first = parts[0]
    match op:
        case "add":
            return sum(parts, Fraction(0))
        case "mul":
            for part in parts[1:]:
                first *= part
                _bounded(first)
            return first
        case "div":
            if not parts[1]:
                raise GaveUp(Undecided.UNDEFINED)
            return first / parts[1]
        case "pow":
            return _exact_power(first, parts[1])
        case "neg":
            return -first
        case "percent":
            return first / 100
        case "abs":
            return abs(first)
    # factorial and binomial
    if any(part.denominator != 1 or part < 0 for part in parts):
        raise GaveUp(Undecided.UNDEFINED)
    if first > MOST_FACTORIAL:
        raise GaveUp(Undecided.TOO_LARGE)
    n = first.numerator
    return Fraction(factorial(n) if op == "factorial" else comb(n, parts[1].numerator))


def _exact_power(base: Fraction, exponent: Fraction) -> Fraction | None:
    if not base and exponent <= 0:
        raise GaveUp(Undecided.UNDEFINED)
    if exponent.denominator != 1:
        return None
    if base == -1:
        return Fraction(-1 if exponent.numerator % 2 else 1)
    if base in (0, 1):
        return base
    if abs(exponent) * _bits(base) > MOST_BITS:
        raise GaveUp(Undecided.TOO_LARGE)
    return base**exponent.numerator


class _Contexts(threading.local):
    """The mpmath contexts of one thread, by digits: mpmath's global one is not thread-safe."""

    def __init__(self) -> None:
        self.made: dict[int, MPContext] = {}


_CONTEXTS = _Contexts()
# Making a context takes longer than most comparisons, so digits are rounded up to steps.
_STEP = 50


def context(digits: int) -> MPContext:
    """Return a context of at least *digits* digits, cached per thread; do not change it."""
    steps = -(-digits // _STEP) * _STEP
    if steps not in _CONTEXTS.made:
        own = MPContext()
        own.dps = steps
        _CONTEXTS.made[steps] = own
    return _CONTEXTS.made[steps]


def digits_of(node: Node, values: Values, at: MPContext) -> Any:
    """Return the value in the context *at*, real or complex; raise GaveUp if it has none."""
    rational = exact(node, values)
    if rational is not None:
        return at.mpf(rational.numerator) / rational.denominator
    parts = [digits_of(part, values, at) for part in node.args] if node.op != "pow" else []
    match node.op:
        case "var" | "factorial" | "binomial":
            raise GaveUp(Undecided.NOT_READ)
        case "const":
            if node.name == "inf":
                raise GaveUp(Undecided.UNDEFINED)
            return {"pi": +at.pi, "e": +at.e, "i": at.mpc(0, 1)}[node.name]
        case "add":
            return at.fsum(parts)
        case "mul":
            return at.fprod(parts)
        case "neg":
            return -parts[0]
        case "div":
            return parts[0] / _nonzero(parts[1], at)
        case "percent":
            return parts[0] / 100
        case "degree":
            return parts[0] * at.pi / 180
        case "abs":
            return abs(parts[0])
        case "root":
            index = exact(node.args[1], values)
            if index is None or index.denominator != 1 or index < 1:
                raise GaveUp(Undecided.NOT_READ)
            if index > MOST_ROOT:
                raise GaveUp(Undecided.TOO_LARGE)
            return _root(parts[0], index.numerator, at)
        case "pow":
            return _raised(node, values, at)
    return _called(node.name, parts, at)


def _nonzero(value: Any, at: MPContext) -> Any:
    """Return *value* as a divisor; raise GaveUp if it is zero up to its last digits."""
    if abs(value) < at.mpf(10) ** (-at.dps + at.dps // 4):
        raise GaveUp(Undecided.UNDEFINED)
    return value


def is_real(value: Any) -> bool:
    """Return whether *value* has no imaginary part."""
    return not getattr(value, "imag", 0)


def _root(value: Any, index: int, at: MPContext) -> Any:
    """Return the real root if there is one, else the principal root."""
    if is_real(value) and at.re(value) < 0 and index % 2:
        return -at.root(-at.re(value), index)
    return at.root(value, index)


def _raised(node: Node, values: Values, at: MPContext) -> Any:
    base = digits_of(node.args[0], values, at)
    power = exact(node.args[1], values)
    if power is None:
        return _general_power(base, digits_of(node.args[1], values, at), at)
    if not base and power <= 0:
        raise GaveUp(Undecided.UNDEFINED)
    if power.denominator > MOST_ROOT:
        return _general_power(base, at.mpf(power.numerator) / power.denominator, at)
    if base and abs(power) * (1 + abs(at.log10(abs(base)))) > MOST_BITS / 8:
        raise GaveUp(Undecided.TOO_LARGE)
    return _root(base, power.denominator, at) ** power.numerator


def _general_power(base: Any, power: Any, at: MPContext) -> Any:
    if not base:
        raise GaveUp(Undecided.UNDEFINED)
    if abs(power) * abs(at.log10(base)) > MOST_MAGNITUDE:
        raise GaveUp(Undecided.TOO_LARGE)
    return at.power(base, power)


def _called(name: str, parts: list[Any], at: MPContext) -> Any:
    value = parts[0]
    if name in ("exp", "sinh", "cosh", "tanh") and abs(value) > MOST_MAGNITUDE * 2:
        raise GaveUp(Undecided.TOO_LARGE)
    if name in ("ln", "lg", "log"):
        if name == "ln":
            return at.ln(_nonzero(value, at))
        base = at.ln(_nonzero(parts[1], at)) if len(parts) > 1 else at.ln(10)
        return at.ln(_nonzero(value, at)) / _nonzero(base, at)
    if name in ("tan", "sec", "cot", "csc"):
        below = at.cos(value) if name in ("tan", "sec") else at.sin(value)
        above = {"tan": at.sin, "cot": at.cos}.get(name, lambda _: at.mpf(1))
        return above(value) / _nonzero(below, at)
    return getattr(at, name)(value)


def decimal_size(value: Fraction) -> tuple[float, float]:
    """Return the decimal logarithms of the numerator (at least 1) and the denominator."""
    return _log(max(abs(value.numerator), 1)), _log(value.denominator)


def _log(value: int) -> float:
    extra = max(value.bit_length() - 900, 0)
    return log10(value >> extra) + extra * log10(2)
