"""The tokens of a formula in normal form, at most ``MOST_TOKENS``."""

from __future__ import annotations

import re
from typing import NamedTuple

from evaluations.reading.rules.scoring.math_nodes import GaveUp, Undecided

MOST_TOKENS = 600

_TOKEN = re.compile(
    r"(?P<space>\s+)"
    r"|(?P<mixed>\d{1,9}\s+\d{1,9}\s?/\s?\d{1,9}(?![\d.]))"
    r"|(?P<repeating>\d{0,20}\.\d{0,20}\s?\\(?:overline|dot)\s?\{\d{1,20}\})"
    r"|(?P<number>(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d*)?|\.\d+)"
    r"(?P<power>[eE](?:\d{1,6}|[+-]\d{2,6})(?![\d.A-Za-z]))?"
    r"|(?P<command>\\[A-Za-z]+)"
    r"|(?P<escaped>\\[{}])"
    r"|(?P<word>[A-Za-z]{2,})"
    r"|(?P<letter>[A-Za-z])"
    r"|(?P<sign>[-+*/^_(){}\[\]|!%°:])"
)
_OWN_NAMES = "sin cos tan cot sec csc asin acos atan sinh cosh tanh ln lg log exp"
FUNCTIONS = {name: name for name in _OWN_NAMES.split()}
FUNCTIONS |= {"tg": "tan", "ctg": "cot", "arcsin": "asin", "arccos": "acos", "arctan": "atan"}
CONSTANTS = {"pi": "pi", "infty": "inf", "infinity": "inf", "inf": "inf", "oo": "inf"}
_GREEK_NAMES = """
alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi
rho sigma tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Phi Psi Omega Pi
"""
GREEK = frozenset(_GREEK_NAMES.split())
_COMMANDS = {"times": "*", "cdot": "*", "ast": "*", "div": "/", "over": "/"}
_COMMANDS |= {"lbrack": "[", "rbrack": "]"}
_STRUCTURES = frozenset(("frac", "sqrt", "binom", "dbinom", "tbinom"))
# A run of letters may be a name, or factors in alphabetical order ("abc").
_VOWELS = frozenset("aeiou")
_KNOWN_WORDS = FUNCTIONS.keys() | CONSTANTS.keys() | GREEK | {"sqrt"}
_WORD_START = re.compile("|".join(sorted(_KNOWN_WORDS, key=len, reverse=True)))


class Token(NamedTuple):
    """``kind``: number, mixed, repeating, name, function, constant, structure or sign."""

    kind: str
    text: str
    spaced: bool = False


def tokens(text: str) -> list[Token]:
    """Return the tokens of *text*; raise GaveUp for too many, and for text that is no formula."""
    found: list[Token] = []
    position, spaced = 0, False
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise GaveUp(Undecided.NOT_READ)
        position = match.end()
        if match.lastgroup == "space":
            spaced = True
            continue
        found += [token._replace(spaced=spaced) for token in _of(match)]
        spaced = False
        if len(found) > MOST_TOKENS:
            raise GaveUp(Undecided.TOO_MANY)
    return found


def _of(match: re.Match[str]) -> list[Token]:
    if match["mixed"]:
        return [Token("mixed", match[0])]
    if match["repeating"]:
        return [Token("repeating", match[0])]
    if match["number"]:
        return [Token("number", match[0].replace(",", ""))]
    if match["command"]:
        name = match[0][1:]
        if name in _COMMANDS:
            return [Token("sign", _COMMANDS[name])]
        if name in _STRUCTURES:
            return [Token("structure", name.removeprefix("d").removeprefix("t"))]
        return [_named(name)]
    if match["word"]:
        return _word(match[0])
    if match["letter"]:
        return [Token("name", match[0])]
    return [Token("sign", match[0].removeprefix("\\"))]


def _named(name: str) -> Token:
    if name in FUNCTIONS:
        return Token("function", FUNCTIONS[name])
    if name in CONSTANTS:
        return Token("constant", CONSTANTS[name])
    if name in GREEK:
        return Token("name", name)
    if name == "sqrt":
        return Token("structure", "sqrt")
    raise GaveUp(Undecided.NOT_READ)


def _word(word: str) -> list[Token]:
    """Read "sinx" as a function and its argument, "xy" and "abc" as factors, not "even"."""
    if word in _KNOWN_WORDS:
        return [_named(word)]
    start = _WORD_START.match(word)
    if start and len(word) - start.end() <= 2:
        return [_named(start[0]), *(Token("name", letter) for letter in word[start.end() :])]
    ascending = "".join(sorted(set(word))) == word and not set(word[1:]) & _VOWELS
    spoken = set(word) & _VOWELS and not ascending
    if len(word) == 2 or (len(word) <= 4 and word.islower() and not spoken):
        return [Token("name", letter) for letter in word]
    raise GaveUp(Undecided.NOT_READ)
