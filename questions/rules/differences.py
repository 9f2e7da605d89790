"""Two texts side by side: which words and characters of each the other has not.

Formulas, images and Latin words are whole, Chinese is compared character by
character; space and width do not count. What both begin and end with is set aside;
a long rest is compared line by line, and one of very many lines not at all.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from questions.rules.plain_text import squeezed
from questions.rules.text_differences import MOST_PAIRS, alike

Piece = tuple[str, bool]  # the text, and whether the other side has something else here
Stretch = tuple[bool, slice, slice]  # whether it is the same, and the tokens of both sides

# A formula or an image ends before the next one begins: each sign is looked at a few times only.
_TOKEN = re.compile(
    r"\$\$.+?\$\$|\$[^$\n]+?\$"  # formulas
    r"|\\\((?:[^\\]|\\[^()])+?\\\)|\\\[(?:[^\\]|\\[^\[\]])+?\\\]"
    r"|!\[(?:[^\]\n!]|!(?!\[))*\]\((?:[^)\n!]|!(?!\[))*\)"  # images
    r"|[A-Za-z0-9_'’]+|\s+|[*`|#>~]+|.",
    re.DOTALL,
)
_MARKUP = re.compile(r"\s|[*`|#>~]+$")
# Past MOST_PAIRS of words the frequent ones are looked at only beside others, past this none is.
MOST_PAIRS_OF_WORDS = 2_250_000


def different_pieces(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; joined again, the pieces of a side are its text.

    A piece that differs never holds a line break or the sign of a table, so that it
    can be marked without breaking either.
    """
    left, right = _TOKEN.findall(one), _TOKEN.findall(other)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for same, old, new in _stretches(left, right):
        pieces[0].extend(_pieces(left[old], not same))
        pieces[1].extend(_pieces(right[new], not same))
    return _joined(pieces[0]), _joined(pieces[1])


def _stretches(left: Sequence[str], right: Sequence[str]) -> Iterator[Stretch]:
    """What is the same on both sides and what is not, in order."""
    names = [[squeezed(token) for token in tokens] for tokens in (left, right)]
    first = alike(*names)
    last = alike(*(side[first:][::-1] for side in names))
    ends = len(left) - last, len(right) - last
    yield True, slice(0, first), slice(0, first)
    old, new = (side[first:end] for side, end in zip(names, ends, strict=True))
    if (pairs := len(old) * len(new)) <= MOST_PAIRS_OF_WORDS:
        words = [range(first, end + 1) for end in ends]
        yield from _compared(old, new, words, autojunk=pairs > MOST_PAIRS)
    else:
        lines = _lines(left[first : ends[0]], old), _lines(right[first : ends[1]], new)
        places = [list(accumulate(map(len, side), initial=first)) for side in lines]
        if len(lines[0]) * len(lines[1]) <= MOST_PAIRS:
            yield from _compared(*lines, places, autojunk=False)
        else:
            yield False, slice(first, ends[0]), slice(first, ends[1])
    yield True, slice(ends[0], None), slice(ends[1], None)


def _compared(
    old: Sequence[Hashable],
    new: Sequence[Hashable],
    places: Sequence[Sequence[int]],
    *,
    autojunk: bool,
) -> Iterator[Stretch]:
    """Compare words or lines; *places* are those of the tokens that each begins with."""
    for kind, *found in SequenceMatcher(None, old, new, autojunk=autojunk).get_opcodes():
        begin, end, other_begin, other_end = found
        yield (
            kind == "equal",
            slice(places[0][begin], places[0][end]),
            slice(places[1][other_begin], places[1][other_end]),
        )


def _lines(tokens: Sequence[str], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The *names* of *tokens*, line by line."""
    ends = [place for place, token in enumerate(tokens, start=1) if "\n" in token]
    borders = [0, *ends, len(tokens)]
    return [tuple(names[a:b]) for a, b in pairwise(borders)]


def _pieces(tokens: list[str], differ: bool) -> Iterator[Piece]:
    for token in tokens:
        yield token, differ and not _MARKUP.match(token)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Neighbours of one kind as one piece; a formula that differs stays by itself."""
    joined: list[tuple[list[str], bool]] = []
    alone = True
    for text, differs in pieces:
        whole = differs and text.startswith(("$", "\\", "!"))
        if joined and joined[-1][1] == differs and not whole and not alone:
            joined[-1][0].append(text)
        else:
            joined.append(([text], differs))
        alone = whole
    return [("".join(texts), differs) for texts, differs in joined]
