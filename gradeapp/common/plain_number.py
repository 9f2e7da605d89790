"""Marks in writing: the shortest plain decimal, the same on every page and in every answer."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

SHOWN = Decimal("0.01")
# The digits 0 to 9 alone: "１", "٠" and "1_0" are numbers to Decimal and int, and to no teacher.
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20})")
HALF_TYPED = re.compile(r"[0-9]*\.")
# Two digits at most: "1,000" is a thousand to some, so it is no mark.
OTHER_POINT = re.compile(r"([0-9]*)[,。，]([0-9]{0,2})")


def plain(value: Decimal) -> str:
    """``3.00`` as ``3`` and ``2.50`` as ``2.5``; exact, and never with an exponent."""
    if not value.is_finite():
        return str(value)
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimal_of(text: str) -> Decimal | None:
    """The number in *text*: digits 0 to 9, a sign, a point; None for anything else.

    No exponent is read, so that a short text is never a huge number.
    """
    text = text.strip()
    return Decimal(text) if NUMBER.fullmatch(text) else None


def normalized(value: Decimal) -> Decimal:
    """*value* in its one spelling: 2, 2.0 and 2.00 all become 2, so that hashes agree."""
    return Decimal(plain(value))


def shown(value: Decimal) -> str:
    """The same rounded half up to two decimals: final marks are rounded only when shown."""
    return plain(value.quantize(SHOWN, ROUND_HALF_UP))


def with_half(text: str) -> str:
    """A number as typed at the desk: one that ends with "." is a half more, ``8.`` is ``8.5``.

    A comma, and what a Chinese keyboard writes for the two, are the same: ``8，`` is
    ``8.5`` and ``8,25`` is ``8.25``. The same rule as ``withHalf`` of desk-keys.js;
    any other text stays as it is.
    """
    number = text.strip()
    if other := OTHER_POINT.fullmatch(number):
        number = ".".join(other.groups())
    if HALF_TYPED.fullmatch(number):
        return f"{number}5"
    return number if other else text


def choices(full: Decimal, step: Decimal) -> list[Decimal]:
    """Every mark from 0 to *full* that the *step* (above 0) allows; full marks always are one."""
    steps = [step * number for number in range(int(full // step) + 1)]
    return steps if steps[-1] == full else [*steps, full]
