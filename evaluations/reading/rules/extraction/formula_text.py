"""An output made plain for reading mathematics: formulas stay as they are written.

Unlike ``source_text.plain_source``, dollars, braces, subscripts and signs are
kept, because they are the answer. Reasoning blocks and invisible characters
go, full-width signs become half-width, the marks of fields become one mark.
"""

from __future__ import annotations

import re

from evaluations.reading.rules.extraction.source_text import (
    FIELD_END,
    Edit,
    SourceText,
    reasoning_blocks,
)

_FORMS = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_FORMS |= {"　": " ", "〖": "【", "〗": "】", "\u2028": "\n", "\0": " "}
_FORM = re.compile(f"[{''.join(map(re.escape, _FORMS))}]")
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff\U000e0000-\U000e007f]"
)
# Every alternative begins with a character of its own, which makes looking for them fast.
_MARKUP = re.compile(
    rf"<(?:(?P<end>eo[ae])|(?P<line>br ?/?))>|{_INVISIBLE.pattern}"
    r"|(?P<bold>\*\*)(?!\*)|(?P<heading>#{1,6} |> )"
)
_LINE_START = re.compile(r"(?:\A|\n) {0,3}\Z")
_OPERAND_BEFORE = re.compile(r"[\w)}\]]\Z")
_OPERAND_AFTER = re.compile(r"[\w({\\-]")
# The answer stands at the end; of an output without one before that, nothing is read.
MOST_READ = 20_000


def formula_source(output: str) -> SourceText:
    """The last 20,000 characters of *output*, ready for reading mathematics; linear in them."""
    begin = max(0, len(output) - MOST_READ)
    plain = _FORM.sub(lambda match: _FORMS[match[0]], output[begin:])
    source = SourceText(plain, range(begin, len(output)))
    source = source.edited(reasoning_blocks(source.text))
    return source.edited(_edits(source.text))


def _edits(text: str) -> list[Edit]:
    if not any(sign in text for sign in "<*#>") and not _INVISIBLE.search(text):
        return []
    found = [match for match in _MARKUP.finditer(text) if _is_markup(text, match)]
    return [(*match.span(), _REPLACEMENTS.get(match.lastgroup or "", "")) for match in found]


def _is_markup(text: str, match: re.Match[str]) -> bool:
    """False for two stars between operands (a power) and a sign that opens no line."""
    start, end = match.span()
    if match["bold"]:
        before = _OPERAND_BEFORE.search(text, max(0, start - 1), start)
        return not (before and _OPERAND_AFTER.match(text, end))
    return not match["heading"] or bool(_LINE_START.search(text, max(0, start - 4), start))


_REPLACEMENTS = {"end": FIELD_END, "line": "\n"}
