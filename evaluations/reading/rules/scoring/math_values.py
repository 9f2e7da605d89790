"""The value of a formula: an exact fraction where it has one, else digits under caps.

Caps come before work: no power, factorial or exponential is computed whose
size was not bounded first, so that no formula within the caps of the parser
can take long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
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
    """The value as a fraction, None where it is none; GaveUp for 1/0 or a number too large."""
    match node.op:
        case "num":
            return node.value
        case "var":
            return values.get(node.name)
        case "const" | "root" | "call" | "degree":
            return None
    parts = [exact(part, values) for part in node.args]
    known = [part for part in parts if part is not None]
    return _small(_EXACT[node.op](known)) if len(known) == len(parts) else None


def _small(value: Fraction | None) -> Fraction | None:
    if value is not None and _bits(value) > MOST_BITS:
        raise GaveUp(Undecided.TOO_LARGE)
    return value


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _sum(parts: list[Fraction]) -> Fraction:
    return sum(parts, Fraction(0))


def _product(parts: list[Fraction]) -> Fraction:
    value = Fraction(1)
    for part in parts:
        value *= part
        _small(value)
    return value


def _quotient(parts: list[Fraction]) -> Fraction:
    if not parts[1]:
        raise GaveUp(Undecided.UNDEFINED)
    return parts[0] / parts[1]


def _power(parts: list[Fraction]) -> Fraction | None:
    base, exponent = parts
    if not base and exponent <= 0:
        raise GaveUp(Undecided.UNDEFINED)
    if exponent.denominator != 1:
        return None
    if base not in (0, 1, -1) and abs(exponent) * _bits(base) > MOST_BITS:
        raise GaveUp(Undecided.TOO_LARGE)
    if base == -1:
        return Fraction(-1 if exponent.numerator % 2 else 1)
    return base if base in (0, 1) else base**exponent.numerator


def _factorial(parts: list[Fraction]) -> Fraction:
    count = parts[0]
    if count.denominator != 1 or count < 0:
        raise GaveUp(Undecided.UNDEFINED)
    if count > MOST_FACTORIAL:
        raise GaveUp(Undecided.TOO_LARGE)
    return Fraction(factorial(count.numerator))


def _binomial(parts: list[Fraction]) -> Fraction:
    if any(part.denominator != 1 or part < 0 for part in parts):
        raise GaveUp(Undecided.UNDEFINED)
    if parts[0] > MOST_FACTORIAL:
        raise GaveUp(Undecided.TOO_LARGE)
    return Fraction(comb(parts[0].numerator, parts[1].numerator))


_EXACT: dict[str, Callable[[list[Fraction]], Fraction | None]] = {
    "add": _sum,
    "mul": _product,
    "div": _quotient,
    "pow": _power,
    "neg": lambda parts: -parts[0],
    "percent": lambda parts: parts[0] / 100,
    "abs": lambda parts: abs(parts[0]),
    "factorial": _factorial,
    "binomial": _binomial,
}


class _Contexts(threading.local):
    """Arithmetics by their digits, for one thread: mpmath's shared one is not for several."""

    def __init__(self) -> None:
        self.made: dict[int, MPContext] = {}


_CONTEXTS = _Contexts()
# Making one takes longer than most comparisons, so digits come in steps.
_STEP = 50


def context(digits: int) -> MPContext:
    """Arithmetic of at least so many digits, kept for the thread; its precision never changes."""
    steps = -(-digits // _STEP) * _STEP
    if steps not in _CONTEXTS.made:
        own = MPContext()
        own.dps = steps
        _CONTEXTS.made[steps] = own
    return _CONTEXTS.made[steps]


def digits_of(node: Node, values: Values, at: MPContext) -> Any:
    """The value in the arithmetic *at*, real or complex; GaveUp where it has none."""
    rational = exact(node, values)
    if rational is not None:
        return at.mpf(rational.numerator) / rational.denominator
    parts = [digits_of(part, values, at) for part in node.args] if node.op != "pow" else []
    match node.op:
        case "var" | "factorial" | "binomial":
            raise GaveUp(Undecided.NOT_READ)
        case "const":
            return _constant(node.name, at)
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
            return _root(parts[0], _index(node.args[1], values), at)
        case "pow":
            return _raised(node, values, at)
    return _called(node.name, parts, at)


def _constant(name: str, at: MPContext) -> Any:
    if name == "inf":
        raise GaveUp(Undecided.UNDEFINED)
    return {"pi": +at.pi, "e": +at.e, "i": at.mpc(0, 1)}[name]


def _nonzero(value: Any, at: MPContext) -> Any:
    """*value* as a divisor: what is zero but for its last digits is refused as zero."""
    if abs(value) < at.mpf(10) ** (-at.dps + at.dps // 4):
        raise GaveUp(Undecided.UNDEFINED)
    return value


def _index(node: Node, values: Values) -> int:
    index = exact(node, values)
    if index is None or index.denominator != 1 or index < 1:
        raise GaveUp(Undecided.NOT_READ)
    if index > MOST_ROOT:
        raise GaveUp(Undecided.TOO_LARGE)
    return index.numerator


def is_real(value: Any) -> bool:
    """True for a number without an imaginary part."""
    return not getattr(value, "imag", 0)


def _root(value: Any, index: int, at: MPContext) -> Any:
    """The real root where there is one, else the principal one."""
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
        return at.ln(_nonzero(value, at)) / _nonzero(_base(name, parts, at), at)
    if name in ("tan", "sec", "cot", "csc"):
        below = at.cos(value) if name in ("tan", "sec") else at.sin(value)
        above = {"tan": at.sin, "cot": at.cos}.get(name, lambda _: at.mpf(1))
        return above(value) / _nonzero(below, at)
    return getattr(at, name)(value)


def _base(name: str, parts: list[Any], at: MPContext) -> Any:
    """The natural logarithm of the base; a log without one is the common logarithm."""
    if name == "ln":
        return at.mpf(1)
    return at.ln(_nonzero(parts[1], at)) if len(parts) > 1 else at.ln(10)


def decimal_size(value: Fraction) -> tuple[float, float]:
    """Decimal logarithms of numerator (at least 1) and denominator."""
    return _log(max(abs(value.numerator), 1)), _log(value.denominator)


def _log(value: int) -> float:
    extra = max(value.bit_length() - 900, 0)
    return log10(value >> extra) + extra * log10(2)
