"""Options that are printed in the stem: which letter stands before which text.

GAOKAO-Bench prints them in many ways: one a line, two columns, all in one line,
with a dot, a Chinese comma, a bracket or full-width letters. This module stands
alone: it imports only the standard library.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_WIDE = {ord("Ａ") + place: ord("A") + place for place in range(26)}
# "A." "A．" "A、" "A：" "A)" "(A)" "[A]" "$\mathrm{A}$." but not the end of "DNA." or "S.A."
_MARKER = re.compile(
    r"(?<![A-Za-z0-9\\_^])(?<![A-Z]\.)"
    r"(?:[(（\[【]\s{0,2}([A-Z])\s{0,2}[)）\]】]\s*[.．、:：]?"
    r"|(?<![(（\[【])(?:\$\s{0,2}\\(?:mathrm|text|mathbf)\s{0,2}\{\s{0,2})?([A-Z])(?:\s{0,2}\}\s{0,2}\$)?"
    r"\s{0,2}[.．、:：)）])"
)
# A plain letter with a gap, as in "A 3   B 4": only where a line or a column begins.
# A run of blanks is read once, from its beginning: tried from each blank, it took cubic time.
_BARE_MARKER = re.compile(
    r"(?:(?:^|\n)[ \t\u3000]*+|(?<![ \t\u3000])[ \t\u3000]{2,}+)()([A-Z])[ \t\u3000]++(?=\S)"
)
# The next sub-question begins after the last option of the one before: "36. " or "2．".
_NEXT_NUMBER = re.compile(r"\s[(（]?\d{1,3}\s{0,2}(?:[.．、](?!\d)|[)）])|\s\d{1,3}\s*$")

Mark = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class PrintedOptions:
    """The options of one sub-question: (letter, text) pairs, and where they stand in the stem."""

    begin: int
    end: int
    options: tuple[tuple[str, str], ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts alone, in the order of the letters."""
        return tuple(text for _letter, text in self.options)


def option_groups(text: str, letters: str) -> list[PrintedOptions]:
    """The options printed in *text*: one group for each sub-question, in the order of the page.

    *letters* are those on offer, in order (``ABCD``). A group has all of them: what
    is only half there is not given at all. Texts are given as printed, without the
    space around them; an option of which only the letter is printed is ``""``.
    """
    if len(letters) < 2:
        return []
    plain = text.translate(_WIDE)
    for pattern in (_MARKER, _BARE_MARKER):
        if groups := _groups(plain, letters, list(_marks(plain, pattern))):
            return [_printed(text, plain, group, end) for group, end in groups]
    return []


def _marks(text: str, pattern: re.Pattern[str]) -> Iterator[Mark]:
    for match in pattern.finditer(text):
        yield match.group(1) or match.group(2), match.start(), match.end()


def _groups(text: str, letters: str, marks: list[Mark]) -> list[tuple[list[Mark], int]]:
    """Complete runs of *letters*, each with where it ends.

    Read from the end, so that the nearest letter counts: "vitamin A." in option B
    is no new beginning.
    """
    found: list[tuple[list[Mark], int]] = []
    group: list[Mark] = []
    end = len(text)
    for mark in reversed(marks):
        if mark[0] != letters[-1 - len(group)]:
            continue
        group.append(mark)
        if len(group) == len(letters):
            found.append((group[::-1], end))
            group, end = [], mark[1]
    return found[::-1]


def _printed(text: str, plain: str, group: list[Mark], end: int) -> PrintedOptions:
    ends = [start for _letter, start, _end in group[1:]] + [end]
    if end < len(text) and (number := _NEXT_NUMBER.search(plain, group[-1][2], end)):
        ends[-1] = number.start()
    options = tuple(
        (letter, text[begin:stop].strip())
        for (letter, _start, begin), stop in zip(group, ends, strict=True)
    )
    return PrintedOptions(group[0][1], ends[-1], options)
