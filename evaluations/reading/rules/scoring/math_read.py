"""Reads an answer in normal form as a shape: the outermost structure first.

Statements ("a; b") before alternatives ("x = 3 or x = 5"), these before lists,
lists before relations, relations before brackets, and expressions last.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import reduce

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided, number, variables
from evaluations.reading.rules.scoring.math_parse import parse
from evaluations.reading.rules.scoring.math_regions import (
    INFINITY,
    MINUS_INFINITY,
    Interval,
    inequality,
    intersected,
    united,
)
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
from evaluations.reading.rules.scoring.math_text import enclosed, split, split_list, top_level
from evaluations.reading.rules.scoring.math_value_text import (
    looks_like_formula,
    value_of,
    without_words,
)

MOST_ITEMS = 50
MOST_NESTED = 12

_CONDITION = re.compile(
    r"\s*[,(（]?\s*(?:其中|where\s|for\s)?\s*[a-z](?:\s*,\s*[a-z])*\s*\\in\s*"
    r"(?:\\mathbb\{[ZN]\}|\\text\{[ZN]\}|[ZN])\s*(?:[_^]\s*\{?[*+]\}?)?\s*[)）]?\Z"
)
# "2 (any value up to 3 will do)" in Chinese: a remark for the marker.
_REMARK = re.compile(r"(?<=\S)\s*\((?=[^()]*[\u4e00-\u9fff])[^()]*\)\Z")
_MEMBER = re.compile(r"\A[A-Za-z](?:_\{?\w\}?)?\s*\\in(?![A-Za-z])\s*")
_EDGE = re.compile(r"\A(?:[\s,;:。]|\\approx|=(?!=))+|(?:[\s,;:。]|(?<!\.)\.(?!\.)|\?)+\Z")
_OR = re.compile(
    r"\\text\{\s*(?:or|或)\s*\}|(?<![A-Za-z\\])or(?![A-Za-z])|\\(?:lor|vee)(?![a-z])|或者?"
)
_AND = re.compile(
    r"\\text\{\s*(?:and|且|和)\s*\}|(?<![A-Za-z\\])and(?![A-Za-z])|\\(?:land|wedge)(?![a-z])"
    r"|并?且|(?<=[\d)}\]\s])[和与及](?=[\s\d(\\a-z-])"
)
_NUMBER = re.compile(r"(?:\(\s*(\d)\s*\)|([①-⑨]))\s*(?=\S)")
_MATRIX = re.compile(
    r"\\begin\{([pbvVB]?matrix|array|smallmatrix)\}(?:\{[lcr|]*\})?(.*?)\\end\{\1\}", re.DOTALL
)
_BUILDER = re.compile(r"\A[A-Za-z]\s*(?:\\in\s*\\mathbb\{R\}\s*)?(?:\||:)\s*(?=[^|]*\Z)")
_REALS = re.compile(
    r"\A(?:all real numbers|全体实数|实数集|任意实数|\\mathbb\s*\{?\s*R\s*\}?|\\text\{R\})\Z"
)
_IN_BASE = re.compile(r"\A\(?\s*([0-9A-Z]+(?:\.[0-9A-Z]+)?)\s*\)?\s*_\s*\{?\s*(\d{1,2})\s*\}?\Z")
_POINT = re.compile(r"\A(?:\\text\{\s*)?[A-Z]'?\}?\s*(?=\()")
_NAME = re.compile(
    r"(?:\\[A-Za-z]+|[A-Za-z]|[A-Z]{2,3}|[DE]\s?[A-Z])(?:\s*_\s*\{?\w+\}?)?'?|\|\s*[A-Za-z]{1,2}\s*\|"
)
_FUNCTION = re.compile(
    r"\A([A-Za-z](?:\^\{-1\})?(?:_\{?\w+\}?)?\s*(?=\(\s*[A-Za-z]\s*\))|[fghFGPED](?=\())\s*\([^()=]*\)\Z"
)


def read(text: str, depth: int = 0) -> Shape:
    """The shape of *text*; GaveUp where a cap is met."""
    if depth > MOST_NESTED:
        raise GaveUp(Undecided.TOO_DEEP)
    text = _trimmed(text)
    statements = [part for part in split(text, ";") if part]
    if len(statements) > 1:
        return Items("row", _each(_without_numbers(statements), depth))
    if _MATRIX.fullmatch(text):
        return _matrix(text, depth)
    return _alternatives(text, depth)


def _trimmed(text: str) -> str:
    """Without punctuation at the edges, "x in" before it and "k in Z" behind it."""
    text = _EDGE.sub("", text)
    if text.endswith("}") and text.count("}") > text.count("{"):  # as some keys are published
        text = text[:-1].strip()
    return _MEMBER.sub("", _CONDITION.sub("", _REMARK.sub("", text))).strip()


def _without_numbers(statements: list[str]) -> list[str]:
    """ "(1) 5; (2) 10" without the numbers, where they count the statements."""
    numbers = [_NUMBER.match(statement) for statement in statements]
    counted = [match and (match[1] or ord(match[2]) - 0x245F) for match in numbers]
    if [int(number or 0) for number in counted] != list(range(1, len(statements) + 1)):
        return statements
    return [text[match.end() :] for text, match in zip(statements, numbers, strict=True) if match]


def _each(parts: list[str], depth: int) -> tuple[Shape, ...]:
    if len(parts) > MOST_ITEMS:
        raise GaveUp(Undecided.TOO_MANY)
    return tuple(read(part, depth + 1) for part in parts)


def _alternatives(text: str, depth: int) -> Shape:
    """ "A or B": the union of regions, the set of values."""
    parts = [part for part in split(_OR.sub("\x1f", text), "\x1f") if part]
    if len(parts) < 2:
        return _unions(text, depth)
    shapes = _each(parts, depth)
    ranges = [shape.region for shape in shapes if isinstance(shape, Range)]
    if len(ranges) == len(shapes):
        return Range(united(tuple(piece for region in ranges for piece in region)))
    return _flat(shapes)


def _unions(text: str, depth: int) -> Shape:
    parts = split(text.replace(r"\cup", "\x1f"), "\x1f")
    if len(parts) < 2:
        return _list(text, depth)
    regions = [as_range(shape) for shape in _each(parts, depth)]
    known = [region for region in regions if region is not None]
    if len(known) < len(regions):
        return Words(text, formula=True)
    return Range(united(tuple(piece for shape in known for piece in shape.region)))


def as_range(shape: Shape) -> Range | None:
    """The part of the real line that *shape* is, or None."""
    if isinstance(shape, Range):
        return shape
    if isinstance(shape, Items) and shape.kind == "set":
        nodes = [item.node for item in shape.items if isinstance(item, Value)]
        points = tuple(Interval(node, True, node, True) for node in nodes if not variables(node))
        return Range(united(points)) if len(points) == len(shape.items) else None
    if not isinstance(shape, Bracketed) or len(shape.items) != 2:
        return None
    low, high = shape.items
    if not (isinstance(low, Value) and isinstance(high, Value)):
        return None
    if variables(low.node) | variables(high.node):
        return None
    closed = shape.brackets[0] == "[", shape.brackets[1] == "]"
    return Range(united((Interval(low.node, closed[0], high.node, closed[1]),)))


def _list(text: str, depth: int) -> Shape:
    """ "a, b" and "a and b": inequalities hold together, values make a set."""
    parts = [part for part in split_list(_AND.sub(",", text)) if part]
    if len(parts) < 2:
        return _piece(parts[0] if parts else text, depth)
    shapes = _each(parts, depth)
    regions = [shape.region for shape in shapes if isinstance(shape, Range)]
    if len(regions) == len(shapes):
        return Range(reduce(intersected, regions))
    return _flat(shapes)


def _flat(shapes: tuple[Shape, ...]) -> Shape:
    """A set of them, sets among them opened."""
    items: list[Shape] = []
    for shape in shapes:
        opened = isinstance(shape, Items) and shape.kind == "set"
        items += shape.items if isinstance(shape, Items) and opened else (shape,)
    if len(items) > MOST_ITEMS:
        raise GaveUp(Undecided.TOO_MANY)
    return Items("set", tuple(items))


def _piece(text: str, depth: int) -> Shape:
    """One piece without a separator at its top level."""
    if r"\pm" in text or r"\mp" in text:
        upper = text.replace(r"\pm", "+").replace(r"\mp", "-")
        lower = text.replace(r"\pm", "-").replace(r"\mp", "+")
        return _flat((read(upper, depth + 1), read(lower, depth + 1)))
    if re.fullmatch(r"[①-⑳\s]+", text):
        return Labels(frozenset(text.replace(" ", "")))
    if re.fullmatch(r"(?:\(\s*\d\s*\)\s*){2,9}", text):  # (1)(3) are two labels
        return Labels(frozenset(chr(0x245F + int(digit)) for digit in re.findall(r"[1-9]", text)))
    if _REALS.match(text):
        return Range((Interval(MINUS_INFINITY, False, INFINITY, False),))
    if text in (r"\emptyset", "空集", "empty set", "the empty set", "{}"):
        return Items("set", ())
    if any(text[place] in "=<>" for place in top_level(text)) or re.search(
        r"\\(?:le|ge|ne) ?(?![a-z])", text
    ):
        return _relation(text, depth)
    numeral = _IN_BASE.match(text)
    if numeral and _valid(numeral[1], int(numeral[2])):
        return InBase(numeral[1].lstrip("0") or "0", int(numeral[2]))
    ratio = split(text, ":")
    if len(ratio) > 2 and all(ratio):
        return Items("ratio", _each(ratio, depth))
    return _brackets(text, depth) or _expression(text)


def _valid(digits: str, base: int) -> bool:
    """True for digits of the base, so that no subscripted name is taken for a numeral."""
    values = (int(digit, 36) for digit in digits if digit != ".")
    return digits[0].isdigit() and 2 <= base <= 36 and all(value < base for value in values)


def _brackets(text: str, depth: int) -> Shape | None:
    held = enclosed(_POINT.sub("", text))
    if held is None:
        return None
    opener, content, closer = held
    if opener == "{":
        inner = _BUILDER.sub("", content)
        if not inner:
            return Items("set", ())
        if inner != content or text.startswith(r"\{") or len(split_list(inner)) > 1:
            shape = read(inner, depth + 1)
            whole = isinstance(shape, Items | Range)
            return shape if whole else Items("set", (shape,))
        return read(inner, depth + 1)
    # Inside brackets a comma always separates: (1,234) is a point.
    parts = [part for part in split(content, ",") if part]
    if len(parts) > 1:
        return Bracketed(opener + closer, _each(parts, depth))
    return _alone(content, depth)


def _alone(content: str, depth: int) -> Shape | None:
    """What stands alone in brackets, where it is more than an expression."""
    if _REALS.match(content) or any(sign in content for sign in ("=", "<", ">", r"\in", r"\cup")):
        return read(content, depth + 1)
    return None


def _matrix(text: str, depth: int) -> Shape:
    match = _MATRIX.fullmatch(text)
    content = match[2] if match else ""
    rows = [row.split("&") for row in re.split(r"\\\\(?:\[[^\]]*\])?|\\cr", content) if row.strip()]
    if sum(map(len, rows)) > MOST_ITEMS:
        raise GaveUp(Undecided.TOO_MANY)
    return Matrix(tuple(_each(row, depth) for row in rows))


def _relation(text: str, depth: int) -> Shape:
    region = inequality(text)
    if region is not None:
        return Range(region)
    sides = split(text, "=")
    if len(sides) < 2 or not all(sides):
        return Words(text, formula=True)
    name, last = sides[0], sides[-1]
    held = enclosed(name)
    if held and "," in held[1]:
        return read(last, depth + 1)  # (x, y) = (3, 4)
    named = _FUNCTION.match(name)
    if named:
        return Named(named[1], read(last, depth + 1), function=True)
    if _NAME.fullmatch(name):
        return _assigned(name, last, sides, depth)
    return _equation(sides, text)


def _assigned(name: str, last: str, sides: list[str], depth: int) -> Shape:
    shape = read(last, depth + 1)
    left = without_words(name)
    if isinstance(shape, Value) and len(sides) == 2:
        try:
            used = variables(parse(left))
        except GaveUp:
            return Named(left, shape, function=True)
        if used & variables(shape.node):
            return _equation(sides, f"{name}={last}")
    return Named(left.replace(" ", "").replace("{", "").replace("}", ""), shape)


def _equation(sides: list[str], text: str) -> Shape:
    """A curve; a chain without variables (2+3=5) has the value at its end."""
    try:
        nodes = [value_of(side).node for side in sides]
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.NOT_READ:
            return _named_oddly(sides, text)
        raise
    if not any(variables(node) for node in nodes):
        return value_of(sides[-1])
    if len(nodes) > 2:
        return Words(text, formula=True)
    return Curve(Node("add", (nodes[0], Node("neg", (nodes[1],)))))


def _named_oddly(sides: list[str], text: str) -> Shape:
    """ "S_{\\triangle ABC} = 5": a value behind a name that is no formula."""
    try:
        value = value_of(sides[-1])
    except GaveUp:
        return Words(text, formula=True)
    constant = not variables(value.node)
    return Named(sides[0], value, function=True) if constant else Words(text, formula=True)


def _expression(text: str) -> Shape:
    inner = re.fullmatch(r"\\text\{([^{}]*)\}", text)
    if inner:
        letter = re.fullmatch(r"\(?\s*([A-Za-z])\s*\)?", inner[1])
        return Value(Node("var", name=letter[1])) if letter else Words(inner[1])
    if re.fullmatch(r"[A-Z]{2,}", text):
        return Words(text)
    spoken = _SPOKEN.get(text.lower())
    if spoken is not None:
        return Value(number(Fraction(spoken)))
    try:
        return value_of(text)
    except GaveUp as gave_up:
        if gave_up.reason is Undecided.NOT_READ:
            return Words(text, formula=looks_like_formula(text))
        raise


_NUMERALS = """
zero 零; one 一; two 二 两; three 三; four 四; five 五; six 六; seven 七; eight 八; nine 九; ten 十;
eleven 十一; twelve 十二
"""
_SPOKEN = {
    word: value for value, words in enumerate(_NUMERALS.split(";")) for word in words.split()
}
