"""Inequalities in one name that stand solved, as parts of the real line."""

from __future__ import annotations

import re

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided, variables
from evaluations.reading.rules.scoring.math_parse import parse
from evaluations.reading.rules.scoring.math_regions import (
    INFINITY,
    MINUS_INFINITY,
    Interval,
    Region,
    intersected,
    united,
)

_SIGN = re.compile(r"\\(?:le|ge|ne)(?![a-z])|[<>=]")
_TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", r"\ne": r"\ne"}


def inequality(text: str) -> Region | None:
    """The numbers that "a < x", "x \\ge a", "a < x \\le b" or "x \\ne a" admit, None for others."""
    signs = _SIGN.findall(text)
    sides = _SIGN.split(text)
    if not signs or "=" in signs or len(signs) > 2:
        return None
    try:
        nodes = [parse(side.strip()) for side in sides]
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.NOT_READ:
            return None
        raise
    names = [node.op == "var" for node in nodes]
    constant = [not variables(node) for node in nodes]
    if len(signs) == 1 and names[0] and constant[1]:
        return _half(signs[0], nodes[1])
    if len(signs) == 1 and names[1] and constant[0]:
        return _half(_TURNED[signs[0]], nodes[0])
    if len(signs) == 2 and names[1] and constant[0] and constant[2]:
        return intersected(_half(_TURNED[signs[0]], nodes[0]), _half(signs[1], nodes[2]))
    return None


def _half(sign: str, bound: Node) -> Region:
    """The numbers that stand in the relation *sign* to *bound*."""
    below = Interval(MINUS_INFINITY, False, bound, sign == r"\le")
    above = Interval(bound, sign == r"\ge", INFINITY, False)
    if sign == r"\ne":
        return united((below, above))
    return united((below,) if sign in ("<", r"\le") else (above,))
