"""The tree of a formula, and the reasons for giving up a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gradeapp.common.named import Named


class Undecided(Named):
    """Why a comparison of two answers was given up."""

    TOO_LONG = "too_long", "longer than is compared", "超出可比较的长度"
    TOO_DEEP = "too_deep", "nested deeper than is compared", "嵌套过深"
    TOO_LARGE = "too_large", "a number or an exponent larger than is computed", "数或指数过大"
    TOO_MANY = "too_many", "more parts than are compared", "部分过多"
    UNDEFINED = "undefined", "has no value, such as a division by zero", "无意义，例如除以零"
    DOMAINS = "domains", "agrees only where both are defined", "仅在两者都有定义处相等"
    UNITS = "units", "units that cannot be compared", "单位无法比较"
    BASES = "bases", "a number written in another base, or without one", "进制不同或未注明"
    WRITING = "writing", "an equation beside an expression", "一为方程，一为式子"
    NAMES = "names", "values whose names cannot be matched", "变量名无法对应"
    WORDS = "words", "words, which are not compared by meaning", "文字表述，不按含义比较"
    NOT_READ = "not_read", "a formula that is not understood", "未能理解的算式"


class GaveUp(Exception):
    """Raised when a limit is exceeded, or when a formula is not read or has no value."""

    def __init__(self, reason: Undecided) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Node:
    """A formula.

    ``op``: num (with ``value``), var and const (with ``name``: pi, e, i, inf),
    add, mul, div, pow, neg, root (radicand, index), degree, percent, factorial,
    binomial, abs, or call (with the function's ``name``; log takes a base).
    """

    op: str
    args: tuple[Node, ...] = ()
    value: Fraction = Fraction(0)
    name: str = ""


def number(value: Fraction | int) -> Node:
    """Return the node of an exact number."""
    return Node("num", value=Fraction(value))


def variables(node: Node) -> frozenset[str]:
    """Return the names of the variables in *node*."""
    if node.op == "var":
        return frozenset((node.name,))
    return frozenset().union(*(variables(part) for part in node.args))


def contains(node: Node, op: str, name: str = "") -> bool:
    """Return whether *node* or a part of it has this ``op`` (and this ``name``)."""
    own = node.op == op and name in ("", node.name)
    return own or any(contains(part, op, name) for part in node.args)


def infinite_sign(node: Node) -> int:
    """Return 1 or -1 for plus or minus infinity, 0 otherwise."""
    if node.op == "const" and node.name == "inf":
        return 1
    return -infinite_sign(node.args[0]) if node.op == "neg" else 0
