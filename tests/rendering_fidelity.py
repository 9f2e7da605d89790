"""Compares what is shown of a text with the text, without asking the renderer what a delimiter is.

Every visible character must come from the source in its order, and whatever of the
source is not visible must be one of the delimiters listed here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

BLANK = "[ \t\u00a0\u2000-\u200a\u202f\u3000]"
# What may vanish anywhere, only in a response, and only within a LaTeX table.
ALWAYS = (
    r"\\\$|\$\$|\$|\\[()\[\]]|【|】|<\s?eo[ea]\s?>|!\[[^\]\n]*\]\([^)\n]*\)"
    r"|(?:(?<=\n)|^)[|:\- \t]*-[|:\- \t]*\|[|:\- \t]*(?=\n|$)|\|"
)
RESPONSE = r"\*\*|^#{1,6} |(?<=\n)#{1,6} |```|`"
TABLE = (
    r"\\begin\s?\{(?:tabular|array|center)\}(?:\[\w\])?(?:\{[|clr ]+\})?"
    r"|\\end\s?\{(?:tabular|array|center)\}|\\\\|&|\\[hc]line(?:\s?\{[^}]*\})?"
    r"|\\multicolumn\s?\{\d+\}\s?\{[^}]*\}|\\multirow(?:\[\w\])?\{\d+\}\{[^}]*\}"
    r"|\\text(?:bf)?(?=\s?\{)|\\(?=[%&#_])|[{}]"
)
# The tables without another table in them, what ends a cell, and formulas in which it does not.
_TABULAR = re.compile(
    r"\\begin\s?\{tabular\}\s*(?:\[\w\])?\s*\{(?:[^{}]|\{[^{}]*\})*\}"
    r"((?:(?!\\begin\s?\{tabular).)*?)\\end\s?\{tabular\}",
    re.DOTALL,
)
_CELL_ENDS = re.compile(r"\\\\|(?<!\\)&|\\hline|\\cline\s?\{[^}]*\}")
_ARRAY = re.compile(r"\$\\begin\s?\{array\}.*?\\end\s?\{array\}", re.DOTALL)
_TABLE_AT = re.compile(r"\\begin\s?\{(?:tabular|array|center)\}")
_EXAM = re.compile(ALWAYS)
_EXAM_TABLE = re.compile(f"{TABLE}|{ALWAYS}")
_RESPONSE = re.compile(f"{RESPONSE}|{ALWAYS}")
_RESPONSE_TABLE = re.compile(f"{TABLE}|{RESPONSE}|{ALWAYS}")
_LAYOUT = re.compile(r"[$\\|【`#*]|<\s?eo|!\[")
# Three words after each other are no formula.
_PROSE = re.compile(r"(?:\b[a-zA-Z]*[a-z]{2,}[,.]?\s+){2}[a-zA-Z]*[a-z]{3,}\b")


@dataclass
class Shown(HTMLParser):
    """What a reader sees of some HTML: characters, formulas, gaps and tables."""

    text: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    tables: list[list[str]] = field(default_factory=list)  # what each cell holds, row by row
    outside: list[str] = field(default_factory=list)  # the characters outside of formulas

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._formula = False
        self._within: list[list[str]] = []  # the tables that are open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        kinds = (names.get("class") or "").split()
        if "math" in kinds:
            self._formula = True
            self.formulas.append("")
        elif "gap" in kinds:
            self.text.append("\u2423")
            assert names.get("role") == "img"
            assert names.get("aria-label")
        elif tag in ("br", "tr"):
            self.text.append("\n")
        elif tag == "table":
            self.tables.append([])
            self._within.append(self.tables[-1])
        elif tag in ("td", "th"):
            self.text.append(" ")
            self._within[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("span", "div"):
            self._formula = False
        elif tag in ("p", "pre", "h3", "h4", "h5", "h6"):
            self.text.append("\n")
        elif tag == "table":
            self._within.pop()

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if self._within and self._within[-1]:
            self._within[-1][-1] += data
        if self._formula:
            self.formulas[-1] += data
        else:
            self.outside.append(data)


def shown(html: str) -> Shown:
    seen = Shown()
    seen.feed(html)
    seen.close()
    return seen


def unlike(source: str, seen: Shown, *, response: bool) -> str | None:
    """Where the first character differs by more than delimiters, or nothing."""
    visible = "".join("".join(seen.text).split()).replace("\u2423", "")
    if "".join(source.split()) == visible:
        return None
    tables = bool(_TABLE_AT.search(source))
    if response:
        delimiters = _RESPONSE_TABLE if tables else _RESPONSE
    else:
        delimiters = _EXAM_TABLE if tables else _EXAM
    at = 0
    for piece, is_delimiter in _pieces(source, delimiters):
        bare = "".join(piece.split())
        if visible.startswith(bare, at):
            at += len(bare)
        elif not is_delimiter:
            return f"{visible[max(at - 20, 0) : at + 20]!r} is shown for {piece[:40]!r}"
    return None if at == len(visible) else f"{visible[at : at + 40]!r} is shown after the end"


def _pieces(source: str, delimiters: re.Pattern[str]) -> Iterator[tuple[str, bool]]:
    at = 0
    for match in delimiters.finditer(source):
        yield source[at : match.start()], False
        yield match[0], True
        at = match.end()
    yield source[at:], False


def blanks_unlike(source: str, seen: Shown) -> bool:
    """Whether blanks or line ends got lost; asked of texts without any delimiter."""
    if _LAYOUT.search(source):
        return False
    return _lines("".join(seen.text)) != _lines(source)


def _lines(text: str) -> list[str]:
    text = re.sub(f"{BLANK}{{3,}}|\u2423", "   ", text)
    return [line.rstrip() for line in text.split("\n") if line.strip()]


def words_as_formula(seen: Shown) -> str | None:
    """A formula that is made of words, or nothing."""
    for formula in seen.formulas:
        bare = re.sub(r"\{[^{}]*\}", " ", re.sub(r"\{[^{}]*\}", " ", formula))
        if _PROSE.search(re.sub(r"\\[A-Za-z]+", " ", bare)):
            return formula
    return None


def lost_formulas(source: str, seen: Shown) -> list[str]:
    """Formulas between dollars or TeX brackets that are no longer one, spaces aside.

    Dollars are paired from the first on; money is left out by the eye of a simple
    rule: a pair counts as a formula when it holds a command, an index or a power, or is short
    and without words.
    """
    whole = "\n".join(seen.formulas)
    squeezed = re.sub(r"[\s\\$]", "", whole)
    found = re.findall(
        r"\$\$(.+?)\$\$|\\\((.+?)\\\)|\\\[(.+?)\\\]|\$([^$]+?)\$",
        source.replace("\\$", "\\ "),
        re.DOTALL,
    )
    lost = []
    for groups in found:
        content = next(filter(None, groups))
        bare = re.sub(r"[\s\\$]", "", content)
        formula = re.search(r"\\[a-zA-Z]{2}|[\^_]", content) or re.fullmatch(
            r"[\w\s.,:;'+\-*/=<>|()\[\]!]{1,12}", content, re.ASCII
        )
        if formula and bare and bare not in squeezed and not _PROSE.search(content):
            lost.append(content)
    return lost


def raw_table(source: str, seen: Shown) -> str | None:
    """What is wrong with the LaTeX tables of a text, or nothing."""
    outside = "".join(seen.outside)
    for command in ("\\begin{tabular", "\\hline", "\\multirow", "\\multicolumn", "\\cline"):
        if command in outside:
            return command
    wanted = len(re.findall(r"\\begin\s?\{tabular\}", source))
    if len(seen.tables) < wanted:
        return f"{len(seen.tables)} tables for {wanted}"
    tables = [[bare for cell in table if (bare := _bare(cell))] for table in seen.tables]
    whole_formulas = _ARRAY.sub(lambda match: re.sub(r"\\\\|&", " ", match[0]), source)
    for match in _TABULAR.finditer(whole_formulas):
        cells = [bare for cell in _CELL_ENDS.split(match[1]) if (bare := _bare(cell))]
        if cells not in tables:
            return f"no table of the cells {cells}"
    return None


def _bare(cell: str) -> str:
    """A cell without blanks and delimiters."""
    return "".join(_RESPONSE_TABLE.sub("", cell).split())
