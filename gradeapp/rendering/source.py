"""One text to be rendered, with what the grammar asks about it: formulas, closing delimiters.

Every question is answered in amortised constant time, so that a text of 200,000
opening delimiters costs no more than its length.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

# Blanks within a line: ASCII, no-break, typographic and full-width ones, and tabs.
BLANKS = " \t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
LONGEST_FORMULA = 5000

_ENVIRONMENT = re.compile(r"\\(begin|end)\s?\{\s?([A-Za-z]{1,20}\*?)\s?\}")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_CLOSERS = {"$$": "$$", "$": "$", "\\(": "\\)", "\\[": "\\]"}

# What speaks for and against mathematics between two dollars.
_GROUP = re.compile(r"\{[^{}]*\}")
_COMMAND = re.compile(r"\\[A-Za-z]+")
_SIGN = re.compile(r"[\\^_{}=<>+]")
_CJK = re.compile(r"[\u4e00-\u9fff]")
_CJK_SENTENCE = re.compile(r"[\u4e00-\u9fff]{6}")
_WRITTEN_LINE_END = re.compile(r"\\n(?![A-Za-z])")
_PROSE = re.compile(
    r"\b(?=[A-Za-z .,;:\s]{0,60}[a-z]{3})"
    r"[A-Za-z]{2,}+[,.;:]*+\s++[A-Za-z]{2,}+[,.;:]*+\s++[A-Za-z]{2}"
)
_AMOUNT = re.compile(r"\s*+\d[\d,.]*+[);,\s]*+(?<=\s)[A-Za-z]{2}")
_JOINING_WORD = re.compile(r"\s(?:and|each|for|from|or|per|than|the|to|with)(?:\s|\Z)")


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula in a text: the place of its TeX, where it ends, and whether it is displayed."""

    begin: int
    until: int
    end: int
    display: bool


class Source:
    """A text, and answers about it that are worked out once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._found: dict[str, tuple[int, int]] = {}

    def find(self, needle: str, start: int) -> int:
        """The first place of *needle* at or after *start*, or -1; the last answer is kept."""
        since, place = self._found.get(needle, (1, 0))
        if not (since <= start and (place == -1 or start <= place)):
            place = self.text.find(needle, start)
            self._found[needle] = (start, place)
        return place

    def line_end(self, start: int) -> int:
        """The end of the line that *start* is in."""
        place = self.find("\n", start)
        return len(self.text) if place == -1 else place

    @cached_property
    def environments(self) -> dict[int, tuple[str, int, int, int]]:
        r"""By the place of each ``\begin``: its name, body, ``\end`` and end."""
        opened: dict[str, list[tuple[int, int]]] = {}
        pairs = {}
        for match in _ENVIRONMENT.finditer(self.text):
            kind, name = match.groups()
            waiting = opened.setdefault(name, [])
            if kind == "begin":
                waiting.append(match.span())
            elif waiting:
                begin, body = waiting.pop()
                pairs[begin] = (name, body, match.start(), match.end())
        return pairs

    @cached_property
    def braces(self) -> dict[int, int]:
        """The place of each closing brace by that of its opening one; escaped ones do not count."""
        opened: list[int] = []
        pairs = {}
        for match in _BRACE.finditer(self.text):
            if match[0] == "{":
                opened.append(match.start())
            elif match[0] == "}" and opened:
                pairs[opened.pop()] = match.start()
        return pairs

    def formula(self, start: int, limit: int) -> Formula | None:
        """The formula whose opening delimiter stands at *start*, if one ends before *limit*."""
        text = self.text
        opener = text[start : start + 2]
        if opener not in _CLOSERS:
            opener = text[start]
        closer = _CLOSERS[opener]
        begin = start + len(opener)
        until = self._unescaped(closer, begin) if opener[0] == "$" else self.find(closer, begin)
        if until == -1 or until - begin > LONGEST_FORMULA or until + len(closer) > limit:
            return None
        if opener[0] == "\\" and -1 < self.find(opener, begin) < until:
            return None
        content = text[begin:until]
        if not tex_like(content) or (opener == "$" and _is_an_amount(text, content, until)):
            return None
        return Formula(begin, until, until + len(closer), opener in ("$$", "\\["))

    def _unescaped(self, closer: str, start: int) -> int:
        r"""The first *closer* that no backslash stands before: ``\$`` closes nothing."""
        place = self.find(closer, start)
        while place > start and self.text[place - 1] == "\\" and self.text[place - 2] != "\\":
            if place - start > LONGEST_FORMULA:
                return -1
            place = self.text.find(closer, place + 1)
        return place


def tex_like(content: str) -> bool:
    """Whether *content* reads as mathematics and not as words between two signs of money."""
    if not content.strip() or _WRITTEN_LINE_END.search(content):
        return False
    bare = _COMMAND.sub(" ", _GROUP.sub(" ", _GROUP.sub(" ", content)))
    if _PROSE.search(bare) or _CJK_SENTENCE.search(bare):
        return False
    if _SIGN.search(content):
        return True
    if _CJK.search(bare):
        return content.strip()[0] in "(（" and content.strip()[-1] in ")）"
    return not _AMOUNT.match(bare)


def _is_an_amount(text: str, content: str, until: int) -> bool:
    """Whether the dollar before *content* is money: "$5, $10", "$5 + $6 or $7", two paragraphs."""
    if "\n\n" in content or ("&" in content and "\\" not in content):
        return True
    if "\\" in content or not content.lstrip()[:1].isdigit():
        return False
    return text[until + 1 : until + 2].isdigit() or bool(_JOINING_WORD.search(content))
