"""An output made plain for reading mathematics: formulas stay as they are written.

Unlike ``source_text.plain_source``, dollars, braces, subscripts and signs are
kept, because they are the answer. Reasoning blocks and invisible characters
go, full-width signs become half-width, the marks of fields become one mark.
"""

from __future__ import annotations

import re

from evaluations.rules.extraction.source_text import (
    FIELD_END,
    Edit,
    SourceText,
    reasoning_blocks,
)

_FORMS = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_FORMS |= {ord("　"): " ", ord("〖"): "【", ord("〗"): "】", ord("\u2028"): "\n", 0: " "}
_GONE = re.compile(
    "(?P<end><eo[ae]>)|(?P<line><br ?/?>)"
    "|[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff\U000e0000-\U000e007f]"
    r"|(?<!\*)\*\*(?!\*)(?=\S)(?!\d)|(?<=[^\s\d*])\*\*(?!\*)|(?m:^[ ]{0,3}(?:#{1,6}|>) )"
)


# The answer stands at the end; of an output without one before that, nothing is read.
MOST_READ = 20_000


def formula_source(output: str) -> SourceText:
    """The last 20,000 characters of *output*, ready for reading mathematics; linear in them."""
    begin = max(0, len(output) - MOST_READ)
    source = SourceText(output[begin:].translate(_FORMS), range(begin, len(output)))
    source = source.edited(reasoning_blocks(source.text))
    return source.edited([_edit(match) for match in _GONE.finditer(source.text)])


def _edit(match: re.Match[str]) -> Edit:
    replacement = {"end": FIELD_END, "line": "\n"}.get(match.lastgroup or "", "")
    return (*match.span(), replacement)
