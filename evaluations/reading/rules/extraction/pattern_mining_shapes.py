"""The shapes around the letters of an answer, which become patterns.

A shape is the words before the letters and sometimes after them: a Chinese character, a
Latin word, a field name in 【】, a number, a sign, the end of a line. A number matches
any number, blanks are optional. A piece may have several alternative words; so one
pattern is patched to cover another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from evaluations.reading.rules.extraction.mined import LETTERS, compiled, is_negated

# The most pieces of a shape on each side, and the length of the text that is used.
MOST_LEFT, MOST_RIGHT, WINDOW = 10, 2, 40
MOST_WORDS = 6

# Words for classes; the edges of the text are characters that occur in no text.
NUMBER, BREAK, START, END = "0", "\n", "\ufdd0", "\ufdd1"
_EDGES = frozenset({BREAK, START, END})
_TOKEN = re.compile(r"【[^【】\s]{1,8}】|[A-Za-z]+|[0-9]+|\s+|.", re.DOTALL)
_CHINESE = re.compile(r"[㐀-鿿]")
_CLAUSE_END = frozenset("。;,!?")
# Letters after one of these continue a list of letters.
_JOINING = frozenset("、和与及或") | {"and", "or"}
_LABELS = frozenset("选项([") | {"option", "options", "choice", "choices"}
# A line's end after one of these does not end the phrase: "答案:\nC".
_OPEN = (":", "】", "是", "为", "is")
_RENDERED = {
    NUMBER: "[0-9]{1,3}",
    BREAK: r"[\n\x1e]\s{0,4}",
    START: r"\A\s{0,4}",
    END: r"\s{0,4}\Z",
}


@dataclass(frozen=True, slots=True, order=True)
class Piece:
    """A place in a shape with alternative words; it may be missing if ``optional``."""

    words: tuple[str, ...]
    optional: bool = False

    @property
    def is_edge(self) -> bool:
        """Return whether it is the beginning or the end of a line or of the text."""
        return not _EDGES.isdisjoint(self.words)

    @property
    def speaks(self) -> bool:
        """Return whether it is a word or a number, not just a sign or an edge."""
        return any(word[0].isalnum() or word[0] == "【" for word in self.words)


@dataclass(frozen=True, slots=True, order=True)
class Shape:
    """The pieces before and after the letters of an answer, in order of the text."""

    left: tuple[Piece, ...]
    right: tuple[Piece, ...] = ()

    @property
    def is_anchored(self) -> bool:
        """Return whether the letters fill their line or the text: an edge on both sides."""
        return bool(self.right) and self.left[0].is_edge and self.right[-1].is_edge

    @property
    def says_something(self) -> bool:
        """Return whether it can be a pattern: a word before the letters, or two edges."""
        return any(piece.speaks for piece in self.left) or self.is_anchored

    @property
    def left_expression(self) -> str:
        """Return the expression of the text before the letters, with the blanks after it."""
        return _sequence(self.left) + _blank(self.left[-1], None)

    @property
    def expression(self) -> str:
        """Return the whole expression, with ``<letters>`` for the answer."""
        after = f"(?={_blank(None, self.right[0])}{_sequence(self.right)})" if self.right else ""
        return f"{self.left_expression}{LETTERS}{after}"


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Letters in a text, with the pieces around them in order of the text."""

    letters: str
    left: tuple[Piece, ...]
    right: tuple[Piece, ...]

    def shapes(self) -> Iterator[Shape]:
        """Yield the shapes that match this occurrence, the shortest first."""
        for length in range(1, len(self.left) + 1):
            for following in range(len(self.right) + 1):
                shape = Shape(self.left[-length:], self.right[:following])
                if shape.says_something:
                    yield shape


def occurrences(text: str, letters: str) -> list[Occurrence]:
    """Return the places where plain *text* names option *letters* without negating them."""
    found = []
    for match in compiled(LETTERS, letters).finditer(text):
        start, end = match.span("letters")
        left = _left(text, start)
        if left and not is_negated(text, start, end):
            named = "".join(character for character in match[0] if character in letters)
            found.append(Occurrence(named, left, _right(text, end)))
    return found


def _left(text: str, end: int) -> tuple[Piece, ...]:
    """Return the pieces before position *end*, back to the beginning of the phrase."""
    begin = max(0, end - WINDOW)
    tokens = _TOKEN.findall(text, begin, end)
    if begin and tokens and tokens[0].isalnum():
        del tokens[0]  # perhaps the rest of a longer word
    if not begin:
        tokens.insert(0, START)
    pieces: list[str] = []
    while tokens and len(pieces) < MOST_LEFT:
        token = tokens.pop()
        before = next((t for t in reversed(tokens) if not t.isspace()), "")
        word = _word(token)
        if not word:
            if pieces and _CHINESE.match(pieces[-1]) and _CHINESE.match(before):
                break
            continue
        if word in (BREAK, START) and pieces:
            break
        if word in _JOINING and _LABELS.issuperset(pieces):
            return ()
        if _ends_phrase(word, before):
            break
        pieces.append(word)
        if word == BREAK and not before.endswith(_OPEN):
            break
    return tuple(Piece((word,)) for word in reversed(pieces))


def _right(text: str, begin: int) -> tuple[Piece, ...]:
    tokens = _TOKEN.findall(text, begin, begin + WINDOW)
    if begin + WINDOW >= len(text):
        tokens.append(END)
    pieces: list[str] = []
    for token in tokens:
        word = _word(token)
        if word:
            pieces.append(word)
        if len(pieces) == MOST_RIGHT or word in (BREAK, END):
            break
    if pieces and pieces[-1] == BREAK and not text[begin:].strip():
        pieces[-1] = END
    return tuple(Piece((word,)) for word in pieces)


def _word(token: str) -> str:
    """Return the word of a token; "" for blanks within a line."""
    if token.isspace():
        return BREAK if "\n" in token or "\x1e" in token else ""
    if token.isdecimal() and len(token) <= 3:
        return NUMBER
    return token


def _ends_phrase(word: str, before: str) -> bool:
    """Return whether the phrase of the answer begins after *word*."""
    if word == ".":
        return not before.isdecimal()
    is_option = len(word) == 1 and word.isascii() and word.isupper()
    return is_option or word in _CLAUSE_END or (word.isdecimal() and word != NUMBER)


def _blank(before: Piece | None, after: Piece | None) -> str:
    """Return the expression of the blanks between two pieces, or a piece and the letters."""
    if (before and before.is_edge) or (after and after.is_edge):
        return ""
    chinese = [
        piece is not None and any(_CHINESE.match(word) for word in piece.words)
        for piece in (before, after)
    ]
    return "" if all(chinese) else " {0,3}"


def _sequence(pieces: tuple[Piece, ...]) -> str:
    parts = [_render(pieces[0])]
    for before, piece in pairwise(pieces):
        blank = _blank(before, piece)
        parts.append(f"(?:{blank}{_render(piece)})?" if piece.optional else blank + _render(piece))
    return "".join(parts)


def _render(piece: Piece) -> str:
    words = [_RENDERED.get(word) or re.escape(word).replace("<", r"\<") for word in piece.words]
    return words[0] if len(words) == 1 else f"(?:{'|'.join(words)})"


def merged(old: Shape, new: Shape) -> Shape | None:
    """Return one shape that covers both, None if they have too little in common.

    They may differ in the words of one piece, or in one piece that is missing in one of
    them. If one is the end of the other, the shorter covers both.
    """
    if old.right != new.right:
        return None
    short, long = sorted((old.left, new.left), key=len)
    if long[len(long) - len(short) :] == short:
        return Shape(short, old.right)
    if len(short) == len(long):
        return _with_choice(old, new)
    if len(short) + 1 == len(long):
        for place in range(1, len(long)):
            if long[:place] + long[place + 1 :] == short and not long[place].is_edge:
                piece = replace(long[place], optional=True)
                return Shape((*long[:place], piece, *long[place + 1 :]), old.right)
    return None


def _with_choice(old: Shape, new: Shape) -> Shape | None:
    differing = [
        n for n, pair in enumerate(zip(old.left, new.left, strict=True)) if pair[0] != pair[1]
    ]
    if len(differing) != 1:
        return None
    place = differing[0]
    one, other = old.left[place], new.left[place]
    words = tuple(dict.fromkeys(one.words + other.words))
    if one.is_edge or other.is_edge or len(words) > MOST_WORDS:
        return None
    piece = Piece(words, one.optional or other.optional)
    if not piece.speaks and any(len(word) != 1 for word in words):
        return None
    return Shape((*old.left[:place], piece, *old.left[place + 1 :]), old.right)
