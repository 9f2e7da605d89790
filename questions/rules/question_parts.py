"""Where the sub-questions of a text begin: a passage apart from its questions, a key in its parts.

Sub-questions are recognised by markers at the beginning of a line that count up:
``(1)``, ``（２）``, ``(Ⅱ)``, or ``61.``, ``62、``. A text is only cut, never changed: the
parts joined are the text.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# "解: (1)" begins with its marker, too. A key may go on in the same line after a full stop.
_LEAD = r"[ \t\u3000]*(?:(?:解|答|证明|解析|答案)[ \t]*[:：,，.．]?[ \t]*)?"
_BRACKETED = re.compile(
    rf"(?:^|(?<=[。；;．])){_LEAD}"
    r"[(（][ \t]*(?P<number>\d{1,2}|[ivxIVXⅠ-Ⅻ]{1,4})[ \t]*[)）]",
    re.MULTILINE,
)
_PLAIN = re.compile(r"^[ \t\u3000]*(?P<number>\d{1,3})[ \t]*[.．、](?!\d)", re.MULTILINE)
_ROMAN = {
    name: number
    for number, name in enumerate(("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X"), 1)
}
FEWEST = 2


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text; ``number`` is that of its sub-question, 0 for what stands before."""

    number: int
    text: str


def split_subs(text: str) -> tuple[Part, ...]:
    """*text* cut where its sub-questions begin; one part with number 0 where there are not two."""
    run = _longest_run(text)
    if len(run) < FEWEST:
        return (Part(0, text),)
    starts = [start for start, _number in run]
    ends = [*starts[1:], len(text)]
    parts = [Part(n, text[start:end]) for (start, n), end in zip(run, ends, strict=True)]
    return (Part(0, text[: starts[0]]), *parts) if text[: starts[0]].strip() else tuple(parts)


def split_passage(text: str) -> tuple[str, str]:
    """The passage of *text* and its questions; no passage where no questions are found."""
    run = _longest_run(text, fewest_bracketed=1, inline=False)
    start = run[0][0] if run else 0
    return text[:start], text[start:]


def _longest_run(
    text: str, *, fewest_bracketed: int = FEWEST, inline: bool = True
) -> list[tuple[int, int]]:
    """Start and number of markers that count up by one: in brackets from 1, else from anywhere."""
    bracketed = [
        found
        for found in _BRACKETED.finditer(text)
        if inline or found.start() == 0 or text[found.start() - 1] == "\n"
    ]
    # (i), (ii) divide a sub-question where there are (1), (2) or (I), (II).
    outer = [found for found in bracketed if not found["number"].islower()]
    for marks in (outer, bracketed):
        run = _best([(one.start(), _value(one["number"])) for one in marks], first=1)
        if len(run) >= fewest_bracketed:
            return run
    plain = _best([(one.start(), int(one["number"])) for one in _PLAIN.finditer(text)])
    return plain if len(plain) >= FEWEST else []


def _best(marks: list[tuple[int, int]], first: int | None = None) -> list[tuple[int, int]]:
    """The longest run of marks that count up by one, from *first* on; of equal ones the last.

    Marks in between that do not go on counting are passed over.
    """
    ending: dict[int, list[tuple[int, int]]] = {}
    longest: list[tuple[int, int]] = []
    for mark in marks:
        run = [*ending.get(mark[1] - 1, ()), mark]
        if first is not None and run[0][1] != first:
            continue
        if len(run) >= len(ending.get(mark[1], ())):
            ending[mark[1]] = run
        if len(run) >= len(longest):
            longest = run
    return longest


def _value(number: str) -> int:
    plain = unicodedata.normalize("NFKC", number).upper()
    return int(plain) if plain.isdecimal() else _ROMAN.get(plain, 0)
