"""Writes HTML out of places in a text: paragraphs, line ends, and marks around what differs."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from html import escape

from gradeapp.common.hidden_text import INVISIBLE, code_point

Span = tuple[int, int]


def shown(text: str) -> str:
    """*text* as HTML, with a sign of its own for each character that nobody would see."""
    return with_signs(escape(text, quote=False))


def with_signs(html: str) -> str:
    """*html*, which is text without elements, with such signs."""
    return html if html.isascii() else INVISIBLE.sub(_sign, html)


def _sign(match: re.Match[str]) -> str:
    return f'<span class="code-point">{code_point(match[0])}</span>'


class Writer:
    """Collects HTML. In *flow* text stands in paragraphs, otherwise (a cell) by itself."""

    def __init__(self, text: str, marks: Sequence[Span] = (), *, flow: bool = True) -> None:
        self.parts: list[str] = []
        self.flow = flow
        self._text = text
        self._marks = marks
        self._begun = False  # a paragraph, or a line of a cell
        self._break = False

    def child(self) -> Writer:
        """A writer for a part of the same text that holds no paragraphs."""
        return Writer(self._text, self._marks, flow=False)

    @property
    def at_line_start(self) -> bool:
        return self._break or not self._begun

    def html(self) -> str:
        self.end_paragraph()
        return "".join(self.parts)

    def inline(self, html: str) -> None:
        """Add *html* to the paragraph."""
        if not self._begun:
            self._begun = True
            if self.flow:
                self.parts.append("<p>")
        elif self._break:
            self.parts.append("<br>")
        self._break = False
        self.parts.append(html)

    def plain(self, begin: int, end: int) -> None:
        """Add the characters of the text from *begin* to *end* as they are."""
        if begin >= end:
            return
        place = begin
        for mark_begin, mark_end in self._marks_of(begin, end) if self._marks else ():
            self._unmarked(place, mark_begin)
            self.inline(f"<mark>{shown(self._text[mark_begin:mark_end])}</mark>")
            place = mark_end
        self._unmarked(place, end)

    def _unmarked(self, begin: int, end: int) -> None:
        if begin < end:
            self.inline(shown(self._text[begin:end]))

    def _marks_of(self, begin: int, end: int) -> list[Span]:
        """The marks between *begin* and *end*, cut to it."""
        first = max(bisect_right(self._marks, (begin, begin)) - 1, 0)
        found = []
        for mark_begin, mark_end in self._marks[first:]:
            if mark_begin >= end:
                break
            if mark_end > begin:
                found.append((max(mark_begin, begin), min(mark_end, end)))
        return found

    def marked(self, begin: int, end: int) -> bool:
        """Whether anything between *begin* and *end* is marked."""
        return bool(self._marks) and bool(self._marks_of(begin, end))

    def whole(self, html: str, begin: int, end: int) -> None:
        """Add *html* that stands for the text from *begin* to *end*, marked as a whole."""
        self.inline(f"<mark>{html}</mark>" if self.marked(begin, end) else html)

    def line_end(self) -> None:
        self._break = self._begun

    def end_paragraph(self) -> None:
        if self.flow and self._begun:
            self.parts.append("</p>\n")
            self._begun = False
        self._break = self._begun

    def block(self, html: str) -> None:
        """Add a block of its own, between paragraphs."""
        self.end_paragraph()
        self.parts.append(html)
        self._break = False
