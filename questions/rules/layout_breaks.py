"""Lines that a printed page broke, joined again for the eye; what is stored stays as it is.

Texts that were taken from a PDF keep the line ends of its columns. In a narrower
column each of them leaves a line with a few characters.
"""

from __future__ import annotations

import re
from itertools import pairwise
from unicodedata import east_asian_width

from gradeapp.common.remembered import remembered

# Columns; a Chinese character takes two. Verse and headings are narrower than a page, and a
# text with a wider line was not broken by one.
NARROWEST, WIDEST = 48, 120
# A line that a page broke comes so close to the widest.
FULL = 0.7
# Formulas and code have lines of their own meaning.
KEPT = ("$", "\\", "```")

_ENDS = ("。", "！", "？", "；", "：", "．", "…", ".", "!", "?", ";", ":")
_CLOSING = "”’」』》）)】]\"' "
_ROMAN = "IVXivxⅠ-Ⅻⅰ-ⅻ"
_NUMBERS = "一二三四五六七八九十"
_BEGINS = re.compile(
    rf"[（(]\s*(?:\d{{1,2}}|[{_ROMAN}]{{1,4}}|[{_NUMBERS}]{{1,3}})\s*[）)]"  # （1） (ii) （一）
    rf"|\d{{1,2}}\s*[.．、](?!\d)|[{_NUMBERS}]{{1,3}}、|[①-⑳⑴-⒇]"
    r"|[A-Ha-h]\s*[.．、:：)）]"
    rf"|(?:材料|注|答|解)[{_NUMBERS}]?\s*[:：]"
    r"|[-*+•·●◆■□○※]\s|#{1,6}\s|[|>【]"
)
# A row of a table, and the source below a passage.
_APART = ("|", "——", "﹣﹣")
_DIGIT = re.compile(r"\d")
_COLUMNS = 4


@remembered(maxsize=4096)
def without_layout_breaks(text: str) -> str:
    """*text* with the lines joined that break off within a sentence at the edge of a page.

    Latin words are joined with a blank, Chinese without. A line stays apart where
    the next is empty or begins a sub-question, an option, an entry of a list or a
    row of a table. Texts with formulas or code come back as they are.
    """
    if "\n" not in text or any(sign in text for sign in KEPT):
        return text
    lines = text.split("\n")
    widest = max(map(_width, lines))
    if not NARROWEST <= widest <= WIDEST:
        return text
    joined = lines[:1]
    for before, line in pairwise(lines):
        if _width(before) >= FULL * widest and _goes_on(before.strip(), line.strip()):
            joined[-1] = _together(joined[-1].rstrip(), line.strip())
        else:
            joined.append(line)
    return "\n".join(joined)


def _width(line: str) -> int:
    return sum(2 if east_asian_width(sign) in "WF" else 1 for sign in line.strip())


def _goes_on(before: str, line: str) -> bool:
    """Whether *line* goes on with the sentence that *before* breaks off in; both stripped."""
    if not line or _BEGINS.match(line) or before.rstrip(_CLOSING).endswith(_ENDS):
        return False
    return not (before.startswith(_APART) or _is_row(before) or _is_row(line))


def _is_row(line: str) -> bool:
    """Whether *line* is a row of a table of numbers that is kept apart by blanks only."""
    cells = line.split()
    return len(cells) >= _COLUMNS and 2 * sum(map(bool, map(_DIGIT.search, cells))) > len(cells)


def _together(before: str, line: str) -> str:
    wide = any(east_asian_width(sign) in "WF" for sign in (before[-1], line[0]))
    return before + line if wide else f"{before} {line}"
