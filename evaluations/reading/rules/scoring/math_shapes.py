"""The kinds of answers: a value, a list, a point, a region, a curve, a matrix, words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from evaluations.reading.rules.scoring.math_nodes import Node
from evaluations.reading.rules.scoring.math_regions import Region
from evaluations.reading.rules.scoring.math_units import Unit


@dataclass(frozen=True, slots=True)
class Value:
    """An expression with an optional unit."""

    node: Node
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """Text; ``formula`` if it looks like mathematics that was not understood."""

    text: str
    formula: bool = False


@dataclass(frozen=True, slots=True)
class Labels:
    """Numbered statements, such as ①③④; their order does not matter."""

    labels: frozenset[str]


@dataclass(frozen=True, slots=True)
class Items:
    """Several shapes. ``kind``: set (no order), row (order counts), ratio (up to a factor)."""

    kind: str
    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Bracketed:
    """A point, or an interval: (a, b) may be both. ``brackets`` as written, such as "(]"."""

    brackets: str
    items: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """Part of the real line."""

    region: Region


@dataclass(frozen=True, slots=True)
class Curve:
    """An equation as its left side minus its right side."""

    node: Node


@dataclass(frozen=True, slots=True)
class Named:
    """A name and what it equals: x = 3, y = 2x, f(x) = 2x."""

    name: str
    shape: Shape
    function: bool = False


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of expressions."""

    rows: tuple[tuple[Shape, ...], ...]


@dataclass(frozen=True, slots=True)
class InBase:
    """A numeral in another base."""

    digits: str
    base: int

    @property
    def value(self) -> Fraction:
        """Return the number."""
        whole, _, rest = self.digits.partition(".")
        return Fraction(int(whole + rest, self.base), self.base ** len(rest))

    @property
    def as_decimal(self) -> Fraction | None:
        """Return the number with the same digits in base ten; None if there are letters."""
        return None if re.search("[A-Z]", self.digits) else Fraction(self.digits)


Shape = Value | Words | Labels | Items | Bracketed | Range | Curve | Named | Matrix | InBase
