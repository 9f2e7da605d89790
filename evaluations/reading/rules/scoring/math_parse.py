"""Parser of formulas in normal form: recursive descent with limits.

No text is evaluated as code. A product without a sign binds like a written one;
the argument of a function is the product after it, up to the next sign or function
("sin 3x"); -2^2 is -4; 2^3^2 is 2^9; "1 1/2" and "1\\frac{1}{2}" are mixed numbers.
"""

from __future__ import annotations

import re
from fractions import Fraction

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Node, Undecided, number
from evaluations.reading.rules.scoring.math_tokens import Token, tokens

MOST_DEPTH = 40
MOST_POSTFIXES = 4
MOST_POWER_OF_TEN = 1000
_FRACTION = re.compile(r"frac(?:\{(\d{1,9})\}|(\d))(?:\{(\d{1,9})\}|(\d)(?!\d))")
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_END = Token("end", "")


def parse(text: str) -> Node:
    """Return the tree of *text*; raise GaveUp if it is no formula or exceeds a limit."""
    parser = _Parser(tokens(text))
    node = parser.sum()
    if parser.here is not _END:
        raise GaveUp(Undecided.NOT_READ)
    return node


def decimal(text: str) -> Fraction:
    """Return the exact value of "12.5", ".5" or "1.2e-05"; raise GaveUp for a huge exponent."""
    mantissa, _, power = text.lower().partition("e")
    if power and abs(int(power)) > MOST_POWER_OF_TEN:
        raise GaveUp(Undecided.TOO_LARGE)
    whole, _, decimals = mantissa.partition(".")
    value = Fraction(int((whole + decimals) or "0"), 10 ** len(decimals))
    return value * Fraction(10) ** int(power or 0)


class _Parser:
    """One pass over the tokens; ``bars`` counts the open absolute values."""

    def __init__(self, found: list[Token]) -> None:
        self.tokens = found
        self.position = 0
        self.depth = 0
        self.bars = 0

    @property
    def here(self) -> Token:
        return self.tokens[self.position] if self.position < len(self.tokens) else _END

    def at(self, *signs: str) -> bool:
        return self.here.kind == "sign" and self.here.text in signs

    def take(self) -> Token:
        token = self.here
        if token is _END:
            raise GaveUp(Undecided.NOT_READ)
        self.position += 1
        return token

    def expect(self, sign: str) -> None:
        if not self.at(sign):
            raise GaveUp(Undecided.NOT_READ)
        self.position += 1

    def sum(self) -> Node:
        self.deeper()
        terms = [self.product()]
        while self.at("+", "-"):
            negative = self.take().text == "-"
            term = self.product()
            terms.append(Node("neg", (term,)) if negative else term)
        self.depth -= 1
        return terms[0] if len(terms) == 1 else Node("add", tuple(terms))

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise GaveUp(Undecided.TOO_DEEP)

    def product(self, *, argument: bool = False) -> Node:
        above, below = [self.signed()], list[Node]()
        while True:
            if self.at("*", "/", ":") and not argument:
                side = above if self.take().text == "*" else below
                side.append(self.signed())
            elif self._starts_factor(argument):
                above.append(self.power())
            else:
                return Node("div", (_times(above), _times(below))) if below else _times(above)

    def _starts_factor(self, argument: bool) -> bool:
        """Return whether a factor follows without a sign."""
        token, before = self.here, self.tokens[self.position - 1]
        if token.kind == "sign":
            opens = token.text in _CLOSERS and not (argument and before.text == ")")
            return opens or (token.text == "|" and not self.bars)
        if token.kind in ("number", "mixed") and before.kind in ("number", "mixed"):
            return False
        return token is not _END and not (argument and token.kind == "function")

    def signed(self) -> Node:
        negative = False
        while self.at("-", "+"):
            negative ^= self.take().text == "-"
        node = self.power()
        return Node("neg", (node,)) if negative else node

    def power(self) -> Node:
        node = self.postfix(self.atom())
        if self.at("^"):
            self.take()
            return self.postfix(Node("pow", (node, self.exponent())))
        return node

    def exponent(self) -> Node:
        self.deeper()
        node = self.signed()
        self.depth -= 1
        return node

    def postfix(self, node: Node) -> Node:
        names = {"!": "factorial", "°": "degree", "%": "percent"}
        before = self.position
        while self.at(*names):
            node = Node(names[self.take().text], (node,))
        if self.position > before + MOST_POSTFIXES:
            raise GaveUp(Undecided.TOO_DEEP)
        return node

    def atom(self) -> Node:
        token = self.take()
        match token.kind:
            case "number":
                return self.mixed(number(decimal(token.text)), token.text)
            case "mixed":
                whole, above, below = (int(part) for part in re.findall(r"\d+", token.text))
                if not below:
                    raise GaveUp(Undecided.UNDEFINED)
                return number(whole + Fraction(above, below))
            case "repeating":  # 0.1\overline{6} is 1/10 + 6/90
                start, _, period = re.sub(r"[\s}]", "", token.text).partition("\\")
                digits = period.partition("{")[2]
                below = (10 ** len(digits) - 1) * 10 ** len(start.partition(".")[2])
                return number(decimal(start) + Fraction(int(digits), below))
            case "constant":
                return Node("const", name=token.text)
            case "name":
                return self.name(token.text)
            case "function":
                return self.function(token.text)
            case "structure":
                return self.structure(token.text)
            case "sign" if token.text in _CLOSERS:
                return self.group(token.text)
            case "sign" if token.text == "|":
                return self.absolute()
        raise GaveUp(Undecided.NOT_READ)

    def mixed(self, whole: Node, written: str) -> Node:
        """Return *whole* with the proper LaTeX fraction after it, if there is one."""
        if self.here.text != "frac" or not written.isdigit():
            return whole
        ahead = [token.text for token in self.tokens[self.position : self.position + 7]]
        match = _FRACTION.match("".join(ahead))
        if match is None or int(match[1] or match[2]) >= int(match[3] or match[4]):
            return whole
        length = 0
        while length < match.end():
            length += len(self.take().text)
        above, below = int(match[1] or match[2]), int(match[3] or match[4])
        return number(whole.value + Fraction(above, below))

    def group(self, opener: str) -> Node:
        bars, self.bars = self.bars, 0
        node = self.sum()
        self.expect(_CLOSERS[opener])
        self.bars = bars
        return node

    def absolute(self) -> Node:
        self.bars += 1
        node = self.sum()
        self.expect("|")
        self.bars -= 1
        return Node("abs", (node,))

    def name(self, letter: str) -> Node:
        if self.at("_"):
            below = self.subscript()
            if letter in ("C", "A") and below.isdigit() and self.at("^"):
                return self.chosen(letter, number(int(below)))
            return Node("var", name=f"{letter}_{below}")
        if letter in ("e", "i"):
            return Node("const", name=letter)
        return Node("var", name=letter)

    def chosen(self, letter: str, of: Node) -> Node:
        """Read C_5^2 and A_5^2, the Chinese notation of combinations and arrangements."""
        self.take()
        count = self.exponent()
        node = Node("binomial", (of, count))
        return node if letter == "C" else Node("mul", (node, Node("factorial", (count,))))

    def subscript(self) -> str:
        self.expect("_")
        if not self.at("{"):
            return self.take().text
        self.take()
        parts: list[str] = []
        while not self.at("}"):
            if self.here is _END or self.at("{"):
                raise GaveUp(Undecided.NOT_READ)
            parts.append(self.take().text)
        self.take()
        return "".join(parts)

    def function(self, name: str) -> Node:
        base: tuple[Node, ...] = ()
        power: Node | None = None
        if name == "log" and self.at("_"):
            self.take()
            base = (self.argument(),)
        if self.at("^"):
            self.take()
            power = self.exponent()
        node = Node("call", (self.applied(), *base), name=name)
        if power is None:
            return node
        if power == Node("neg", (number(1),)) and name in ("sin", "cos", "tan"):
            return Node("call", node.args, name=f"a{name}")
        return Node("pow", (node, power))

    def applied(self) -> Node:
        """Read the argument of a function: a group, or the product after it."""
        self.deeper()
        grouped = self.at("(", "{", "[")
        node = self.power() if grouped else self.product(argument=True)
        self.depth -= 1
        return node

    def structure(self, name: str) -> Node:
        self.deeper()
        if name == "sqrt":
            node = self.root()
        else:
            first, second = self.argument(), self.argument()
            node = Node("div" if name == "frac" else "binomial", (first, second))
        self.depth -= 1
        return node

    def root(self) -> Node:
        index = number(2)
        if self.at("["):
            self.take()
            index = self.sum()
            self.expect("]")
        if self.here.kind == "number":  # \sqrt12 is meant as the root of twelve
            return Node("root", (self.atom(), index))
        return Node("root", (self.argument(), index))

    def argument(self) -> Node:
        """Read a group in braces, or one token as LaTeX does: one digit of a number."""
        token = self.here
        if token.kind == "number" and len(token.text) > 1 and "." not in token.text:
            self.tokens[self.position] = token._replace(text=token.text[1:])
            return number(int(token.text[0]))
        if token.kind == "mixed":
            raise GaveUp(Undecided.NOT_READ)
        return self.atom()


def _times(factors: list[Node]) -> Node:
    return factors[0] if len(factors) == 1 else Node("mul", tuple(factors))
