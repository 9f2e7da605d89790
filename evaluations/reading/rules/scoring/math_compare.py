"""Compares two shapes: True, False, or None with the reason why nobody can tell by rule."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from evaluations.reading.rules.scoring.math_functions import same_curve, same_values
from evaluations.reading.rules.scoring.math_nodes import (
    GaveUp,
    Node,
    Undecided,
    infinite_sign,
    number,
    variables,
)
from evaluations.reading.rules.scoring.math_read import as_range
from evaluations.reading.rules.scoring.math_regions import same_region
from evaluations.reading.rules.scoring.math_shapes import (
    Bracketed,
    Curve,
    InBase,
    Items,
    Labels,
    Matrix,
    Named,
    Range,
    Shape,
    Value,
    Words,
)

Verdict = bool | None

_COORDINATES = frozenset("xyz")
_RANKED = ("numeric", "points", "algebraic", "exact", "form")


@dataclass
class Comparing:
    """One comparison: the methods that were used, and the first reason for not deciding."""

    methods: set[str] = field(default_factory=set)
    reason: Undecided | None = None

    def undecided(self, reason: Undecided) -> None:
        self.reason = self.reason or reason

    @property
    def method(self) -> str:
        """The least certain of the methods used."""
        return next((name for name in _RANKED if name in self.methods), "form")

    def same(self, one: Shape, other: Shape) -> Verdict:
        """Whether the shapes are equal."""
        if isinstance(other, Named) and not isinstance(one, Named):
            return self.same(other, one)
        if isinstance(one, Named):
            return self._named(one, other)
        match one, other:
            case Value(), Value():
                return self._values(one, other)
            case Words(), Words():
                return self._words(one, other)
            case Labels(), Labels():
                return one.labels == other.labels
            case Items(), Items():
                return self._items(one, other)
            case Bracketed(), Bracketed():
                return self._bracketed(one, other)
            case Curve(), Curve():
                return self._guarded(lambda: same_curve(one.node, other.node, self.methods))
            case Matrix(), Matrix():
                return self._matrices(one, other)
            case InBase(), InBase():
                return self._numerals(one, other)
        return self._unlike(one, other)

    def _unlike(self, one: Shape, other: Shape) -> Verdict:
        """Shapes of different kinds, which may still be the same thing."""
        for left, right in ((one, other), (other, one)):
            if isinstance(left, Range):
                return self._regions(left, right)
        for left, right in ((one, other), (other, one)):
            if isinstance(left, Items) and left.kind == "set" and not isinstance(right, Words):
                return self._sets(left.items, (right,))
            if isinstance(left, Matrix) and isinstance(right, Bracketed):
                return self._column(left, right)
            if isinstance(left, Items) and left.kind == "ratio":
                return False
            if isinstance(left, InBase) and isinstance(right, Value):
                return self._without_base(left, right)
        return self._foreign(one) if self._foreign(one) is None else self._foreign(other)

    def _regions(self, one: Range, other: Shape) -> Verdict:
        region = as_range(other)
        if region is None:
            return self._foreign(other)
        return self._guarded(lambda: same_region(one.region, region.region))

    def _foreign(self, shape: Shape) -> Verdict:
        """Against another kind: words and values differ; what was not understood may not."""
        if isinstance(shape, Words) and shape.formula:
            self.undecided(Undecided.NOT_READ)
            return None
        return False

    def _values(self, one: Value, other: Value) -> Verdict:
        signed = [value.node.op in ("degree", "percent") for value in (one, other)]
        if (signed[0] and other.unit) or (signed[1] and one.unit):
            return False
        if one.unit == other.unit or one.unit is None or other.unit is None:
            return self._nodes(one.node, other.node)
        if not (one.unit.known and other.unit.known):
            equal = self._nodes(one.node, other.node)
            if equal:
                self.undecided(Undecided.UNITS)
            return None if equal else equal
        if one.unit.dimensions != other.unit.dimensions:
            return False
        return self._nodes(
            _scaled(one.node, one.unit.factor), _scaled(other.node, other.unit.factor)
        )

    def _nodes(self, one: Node, other: Node) -> Verdict:
        """Expressions; degrees may be written without their sign, or in radians."""
        if infinite_sign(one) or infinite_sign(other):
            return infinite_sign(one) == infinite_sign(other)
        pairs = [(one, other)]
        if (one.op == "degree") != (other.op == "degree"):
            pairs.append((_bare(one), _bare(other)))
        return self._any([self._same_nodes(left, right) for left, right in pairs])

    def _same_nodes(self, one: Node, other: Node) -> Verdict:
        return self._guarded(lambda: same_values(one, other, self.methods))

    def _guarded(self, compare: Callable[[], bool]) -> Verdict:
        try:
            return compare()
        except GaveUp as gave_up:
            self.undecided(gave_up.reason)
            return None

    def _words(self, one: Words, other: Words) -> Verdict:
        left, right = plain_words(one.text), plain_words(other.text)
        if left == right:
            return True
        short = left.isascii() and right.isascii() and max(len(left), len(right)) <= 24
        apart = left not in right and right not in left
        if short and apart and not (one.formula or other.formula):
            return False
        self.undecided(Undecided.NOT_READ if one.formula or other.formula else Undecided.WORDS)
        return None

    def _items(self, one: Items, other: Items) -> Verdict:
        if one.kind != other.kind:  # "5; 10" and "5, 10": the order written counts
            return "ratio" not in (one.kind, other.kind) and self._rows(one.items, other.items)
        if one.kind == "set":
            return self._sets(one.items, other.items)
        if one.kind == "ratio":
            return self._ratios(one.items, other.items)
        return self._rows(one.items, other.items)

    def _rows(self, one: Sequence[Shape], other: Sequence[Shape]) -> Verdict:
        if len(one) != len(other):
            return False
        return self._all([self.same(a, b) for a, b in zip(one, other, strict=True)])

    def _sets(self, one: Sequence[Shape], other: Sequence[Shape]) -> Verdict:
        """Every item of each has its equal in the other; x = 3, y = 4 is matched by name."""
        names = [_names(one), _names(other)]
        if any(found and len(set(found)) > 1 for found in names) and not all(names):
            self.undecided(Undecided.NAMES)
            return None
        table = [[self.same(a, b) for b in other] for a in one]
        forth = [self._any(row) for row in table]
        back = [self._any([row[place] for row in table]) for place in range(len(other))]
        return self._all([*forth, *back])

    def _ratios(self, one: Sequence[Shape], other: Sequence[Shape]) -> Verdict:
        nodes = [[item.node for item in items if isinstance(item, Value)] for items in (one, other)]
        left, right = nodes
        if len(left) != len(right) or len(left) != len(one):
            return False
        crossed = [
            self._same_nodes(Node("mul", (left[0], b)), Node("mul", (right[0], a)))
            for a, b in zip(left[1:], right[1:], strict=True)
        ]
        return self._all(crossed)

    def _bracketed(self, one: Bracketed, other: Bracketed) -> Verdict:
        return one.brackets == other.brackets and self._rows(one.items, other.items)

    def _matrices(self, one: Matrix, other: Matrix) -> Verdict:
        if [len(row) for row in one.rows] != [len(row) for row in other.rows]:
            return False
        rows = zip(one.rows, other.rows, strict=True)
        return self._all([self._rows(left, right) for left, right in rows])

    def _column(self, matrix: Matrix, point: Bracketed) -> Verdict:
        """A column of numbers is the point of these coordinates."""
        if any(len(row) != 1 for row in matrix.rows):
            return False
        return self._rows([row[0] for row in matrix.rows], point.items)

    def _numerals(self, one: InBase, other: InBase) -> Verdict:
        if one.base == other.base:
            return one.digits == other.digits
        self.undecided(Undecided.BASES)
        return None

    def _without_base(self, one: InBase, other: Value) -> Verdict:
        """The same digits or the same number: who asks for a base may want either."""
        if self._nodes(number(one.value), other.node) or _is_number(other, one.as_decimal):
            self.undecided(Undecided.BASES)
            return None
        return False

    def _named(self, one: Named, other: Shape) -> Verdict:
        """A name before a value adds nothing, but y = 2x is a line and 2x is none."""
        if isinstance(other, Named):
            return self._both_named(one, other)
        if isinstance(other, Curve):
            curve = _as_curve(one)
            return False if curve is None else self.same(curve, other)
        if isinstance(other, Items) and other.kind == "set":
            return self._sets((one,), other.items)
        equal = self.same(one.shape, other)
        if equal and one.name in _COORDINATES and _has_variables(one.shape):
            self.undecided(Undecided.WRITING)
            return None
        return equal

    def _both_named(self, one: Named, other: Named) -> Verdict:
        equal = self.same(one.shape, other.shape)
        if one.name == other.name or not equal or one.function or other.function:
            return equal
        if {one.name, other.name} <= _COORDINATES:
            left, right = _as_curve(one), _as_curve(other)
            return self.same(left, right) if left and right else False
        self.undecided(Undecided.NAMES)
        return None

    def _all(self, verdicts: Sequence[Verdict]) -> Verdict:
        if False in verdicts:
            return False
        return None if None in verdicts else True

    def _any(self, verdicts: Sequence[Verdict]) -> Verdict:
        if True in verdicts:
            return True
        return None if None in verdicts else False


def plain_words(text: str) -> str:
    """Words without capitals, articles and punctuation."""
    text = re.sub(r"\\text\{([^{}]*)\}", r"\1", text).casefold()
    text = re.sub(r"(?<![a-z])(?:an?|the)\s+", "", text)
    return re.sub(r"[\s.,;:!?，。；：！？“”\"'（）()、]+", "", text)


def _scaled(node: Node, factor: Fraction) -> Node:
    return Node("mul", (node, number(factor)))


def _bare(node: Node) -> Node:
    return node.args[0] if node.op == "degree" else node


def _names(items: Sequence[Shape]) -> list[str]:
    """The names of the items, where all of them have one."""
    names = [item.name for item in items if isinstance(item, Named)]
    return names if len(names) == len(items) else []


def _has_variables(shape: Shape) -> bool:
    return isinstance(shape, Value) and bool(variables(shape.node))


def _as_curve(named: Named) -> Curve | None:
    if not isinstance(named.shape, Value):
        return None
    left = Node("var", name=named.name)
    return Curve(Node("add", (left, Node("neg", (named.shape.node,)))))


def _is_number(shape: Value, value: Fraction | None) -> bool:
    return value is not None and shape.node == number(value)
