"""Two texts side by side: which words and characters of each the other has not.

Formulas, images and Latin words are whole, Chinese is compared character by
character; space and width do not count. This module stands alone but for
``plain_text``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from questions.rules.plain_text import squeezed

Piece = tuple[str, bool]  # the text, and whether the other side has something else here

_TOKEN = re.compile(
    r"\$\$.+?\$\$|\$[^$\n]+?\$|\\\(.+?\\\)|\\\[.+?\\\]"  # formulas
    r"|!\[[^\]\n]*\]\([^)\n]*\)"  # images
    r"|[A-Za-z0-9_'’]+|\s+|[*`|#>~]+|.",
    re.DOTALL,
)
_MARKUP = re.compile(r"\s|[*`|#>~]+$")
# Past this many tokens the frequent ones are not looked at, or it takes seconds.
_LONG = 3000


def different_pieces(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; joined again, the pieces of a side are its text.

    A piece that differs never holds a line break or the sign of a table, so that it
    can be marked without breaking either.
    """
    left, right = _TOKEN.findall(one), _TOKEN.findall(other)
    names = [[squeezed(token) for token in tokens] for tokens in (left, right)]
    long = max(len(left), len(right)) > _LONG
    matcher = SequenceMatcher(None, names[0], names[1], autojunk=long)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for kind, begin, end, other_begin, other_end in matcher.get_opcodes():
        pieces[0].extend(_pieces(left[begin:end], kind != "equal"))
        pieces[1].extend(_pieces(right[other_begin:other_end], kind != "equal"))
    return _joined(pieces[0]), _joined(pieces[1])


def _pieces(tokens: list[str], differ: bool) -> Iterator[Piece]:
    for token in tokens:
        yield token, differ and not _MARKUP.match(token)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece; a formula that differs stays by itself."""
    joined: list[Piece] = []
    for text, differs in pieces:
        whole = differs and text.startswith(("$", "\\", "!"))
        if joined and joined[-1][1] == differs and not whole and not _whole(joined[-1]):
            joined[-1] = (joined[-1][0] + text, differs)
        else:
            joined.append((text, differs))
    return joined


def _whole(piece: Piece) -> bool:
    return piece[1] and piece[0].startswith(("$", "\\", "!"))
