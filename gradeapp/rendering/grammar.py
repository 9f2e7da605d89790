"""The grammar of the texts of examinations: what is a delimiter, and what it makes.

Whatever is not named here stays as it is written, character by character.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from html import escape

from gradeapp.common.hidden_tex import drawn_tex
from gradeapp.common.hidden_text import INVISIBLE
from gradeapp.rendering.source import BLANKS, LONGEST_FORMULA, Formula, Source
from gradeapp.rendering.tables import Cell, is_separator, latex_rows, markdown_row, table_html
from gradeapp.rendering.writer import Span, Writer, shown

Match = re.Match[str]
DEEPEST = 4  # tables and bold words in each other

_EXAM_TOKENS = (
    rf"(?P<lines>\n(?:[{BLANKS}]*\n)*)|(?P<blanks>[{BLANKS}]{{3,}})"
    r"|(?P<literal>\\[\\$]|\${4,})|(?P<formula>\$|\\[(\[])"
    r"|(?P<environment>\\begin\s?\{)|(?P<centre>\\end\s?\{\s?center\s?\})|(?P<image>!\[)"
    rf"|(?P<label>【(?:解析|答案|分析|解答|点评|Analysis|Answer)】(?:[{BLANKS}]{{0,4}}[:：])?)"
    rf"|(?P<tag><[{BLANKS}]{{0,2}}[eE][oO][eEaA][{BLANKS}]{{0,2}}>)"
)
_EXAM = re.compile(_EXAM_TOKENS)
_RESPONSE = re.compile(rf"{_EXAM_TOKENS}|(?P<bold>\*+)|(?P<code>`+)")
_CELL_TOKENS = (
    r"|(?P<command>\\(?:textbf|textit|text|emph)\s?(?=\{))|(?P<sign>\\[%&#_])"
    r"|(?P<brace>(?<![A-Za-z*}_^])\{|\})"
)
_EXAM_CELL = re.compile(_EXAM_TOKENS + _CELL_TOKENS)
_RESPONSE_CELL = re.compile(_RESPONSE.pattern + _CELL_TOKENS)

_SUB_NUMBER = re.compile(
    rf"[{BLANKS}]{{0,3}}([（(]\s{{0,2}}(?:\d{{1,2}}|[IVXⅠ-Ⅻⅰ-ⅻ]{{1,4}})\s{{0,2}}[）)])"
)
_IMAGE = re.compile(r"!\[([^\]\n]{0,300})\]\(([^)\n]{0,500})\)")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(?=\S)")
_FENCE = re.compile(r" {0,3}```[ \t]*([^`\n]{0,40})\n")
_REST_IS_BLANK = re.compile(rf"[{BLANKS}]*(?:\n|\Z)")
# What begins an option, an entry or a sub-question: blanks before it keep things apart.
_OPTION = r"\s?(?:[A-Ha-h]\s?[.．、:：)）]|\d{1,3}\s?[.．、)）])"
_ENTRY = re.compile(
    rf"{_OPTION}|\s?(?:[①-⑳⑴-⒇]|[（(]\s?(?:\d{{1,2}}|[A-H]|[IVXⅠ-Ⅻⅰ-ⅻ]{{1,4}})\s?[)）])"
)
# Names of a source and of a paragraph of law: what stands after the blanks is their text.
_DIGITS = "一二三四五六七八九十百零〇0-9"
_NAMED = re.compile(rf"(?:材料[{_DIGITS}]{{0,2}}|第[{_DIGITS}]{{1,6}}条)\Z")
_GOES_ON = re.compile(rf"\n(?![{BLANKS}]*(?:\n|\Z|\$\$|\\\[|\\begin|{_OPTION}))")
_SENTENCE_ENDS = '。．.！!？?；;：:…）)”"』」'
_AFTER_A_GAP = ".,;:?!。，；：？！、"
_WORDS_ONLY = re.compile(r"\s*\\text\s?\{([^{}]*)\}\s*")
_TEX_SIGN = re.compile(r"[\\^_]")
_POWER = re.compile(r"[A-Za-z0-9()]{2}")
_DISPLAYED = frozenset(
    [
        *("align", "align*", "aligned", "alignat", "alignat*", "alignedat", "split", "gathered"),
        *("equation", "equation*", "gather", "gather*", "array", "cases", "dcases", "rcases"),
        *("matrix", "smallmatrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix"),
    ]
)


class Kind(StrEnum):
    """An exam text, its answer key without gaps to fill in, or a response with some Markdown."""

    EXAM = "exam"
    KEY = "key"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class Names:
    """What is read out, or shown for a picture that does not load, in the language of the page."""

    gap: str
    space: str
    image: str


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the text: where it ends and is written; whether it is in a cell of LaTeX."""

    end: int
    writer: Writer
    cell: bool = False
    depth: int = 0


class Grammar:
    """Renders one text: finds its constructs and hands everything between them on as it is."""

    def __init__(self, source: Source, kind: Kind, images: Mapping[str, str], names: Names) -> None:
        self.source = source
        self.text = source.text
        self.images = images
        self.names = names
        self.response, self.key = kind is Kind.RESPONSE, kind is Kind.KEY
        self._closing: set[int] = set()  # where what an opening delimiter began ends unseen
        self._found: Formula | None = None

    def render(self, begin: int, part: Part) -> None:
        """Write the text from *begin* to the end of *part*."""
        if self.response:
            tokens = _RESPONSE_CELL if part.cell else _RESPONSE
        else:
            tokens = _EXAM_CELL if part.cell else _EXAM
        plain = at = self._line(begin, part)
        while match := tokens.search(self.text, at, part.end):
            at = match.end()
            kind = match.lastgroup or ""
            if kind == "literal" or (kind == "formula" and not self._is_formula(match, part)):
                continue
            part.writer.plain(plain, match.start())
            after = getattr(self, f"_{kind}")(match, part)
            plain = match.start() if after is None else after
            at = at if after is None else after
        part.writer.plain(plain, part.end)

    def _within(self, begin: int, end: int, part: Part, *, cell: bool | None = None) -> str:
        """The text from *begin* to *end*, which stands within *part*, as HTML."""
        writer = part.writer.child()
        cell = part.cell if cell is None else cell
        self.render(begin, Part(end, writer, cell=cell, depth=part.depth + 1))
        return writer.html()

    # ---- lines ----

    def _line(self, at: int, part: Part) -> int:
        """Write what only the start of a line can be; returns where the rest of it begins."""
        writer = part.writer
        if not writer.flow:
            return at
        while writer.at_line_start and at < part.end:
            after = self._table_of_bars(at, part)
            if after is None and self.response:
                after = self._heading(at, part) or self._fence(at, part)
            if after is None:
                break
            at = after
        match = _SUB_NUMBER.match(self.text, at, part.end) if writer.at_line_start else None
        if match:
            writer.plain(at, match.start(1))
            number = escape(match[1])
            writer.whole(f'<span class="sub-number">{number}</span>', *match.span(1))
            return match.end()
        return at

    def _line_end(self, at: int, part: Part) -> int:
        return min(self.source.line_end(at), part.end)

    def _has_bar(self, at: int, line_end: int) -> bool:
        return -1 < self.source.find("|", at) < line_end

    def _table_of_bars(self, at: int, part: Part) -> int | None:
        """A Markdown table, if one begins at *at*: a row, a row of dashes with as many cells."""
        line_end = self._line_end(at, part)
        if line_end == part.end or not self._has_bar(at, line_end):
            return None
        below = self._line_end(line_end + 1, part)
        dashes = self.text[line_end + 1 : below]
        rows = [markdown_row(self.source, at, line_end)] if is_separator(dashes) else []
        columns = dashes.strip().removeprefix("|").removesuffix("|").count("|") + 1
        if not rows or len(rows[0]) != columns:
            return None
        at = below + 1
        while at < part.end and self._has_bar(at, line_end := self._line_end(at, part)):
            rows.append(markdown_row(self.source, at, line_end))
            at = line_end + 1
        for row in rows:
            row.extend(Cell([], blank=True) for _ in range(columns - len(row)))
        part.writer.block(table_html(rows, lambda cell: self._cell(cell, part), head=True))
        return min(at, part.end)

    def _heading(self, at: int, part: Part) -> int | None:
        line_end = self._line_end(at, part)
        heading = _HEADING.match(self.text, at, line_end)
        if heading is None:
            return None
        name = f"h{min(len(heading[1]) + 2, 6)}"
        inner = self._within(heading.end(), line_end, part)
        part.writer.block(f"<{name}>{inner}</{name}>\n")
        return min(line_end + 1, part.end)

    def _fence(self, at: int, part: Part) -> int | None:
        """Code between two lines of three backticks; the name of its language is a label."""
        fence = _FENCE.match(self.text, at, part.end)
        until = self.source.find("\n```", fence.end() - 1) if fence else -1
        if fence is None or until == -1 or until + 4 > part.end:
            return None
        if not _REST_IS_BLANK.match(self.text, until + 4, part.end):
            return None
        code = shown(self.text[fence.end() : until])
        name = escape(fence[1].strip())
        label = f'<span class="part-label">{name}</span>' if name else ""
        part.writer.block(f"<pre>{label}<code>{code}</code></pre>\n")
        return min(self._line_end(until + 4, part) + 1, part.end)

    def _lines(self, match: Match, part: Part) -> int:
        if part.cell:  # LaTeX reads a line end as a blank
            part.writer.plain(match.start(), match.start() + 1)
            return match.end()
        if match[0].count("\n") > 1 and part.writer.flow:
            part.writer.end_paragraph()
        else:
            part.writer.line_end()
        return self._line(match.end(), part)

    def _tag(self, match: Match, part: Part) -> int:
        """<eoe> and <eoa> of the format of GAOKAO-Bench end a line."""
        part.writer.line_end()
        return match.end()

    def _label(self, match: Match, part: Part) -> int:
        """【解析】 becomes a small label; a colon after it stays."""
        words = escape(match[0].replace("【", "").replace("】", ""))
        part.writer.end_paragraph()
        part.writer.whole(f'<span class="part-label">{words}</span>', *match.span())
        part.writer.end_paragraph()
        return match.end()

    def _blanks(self, match: Match, part: Part) -> int:
        """Three or more blanks: room to write in, or space between two entries."""
        if not self._is_gap(match, part):
            part.writer.plain(*match.span())
            return match.end()
        entry = self.key or _ENTRY.match(self.text, match.end(), part.end)
        apart = entry or _NAMED.search(self.text[max(match.start() - 8, 0) : match.start()])
        css, name = ("gap apart", self.names.space) if apart else ("gap", self.names.gap)
        part.writer.inline(f'<span class="{css}" role="img" aria-label="{escape(name)}"></span>')
        return match.end()

    def _is_gap(self, match: Match, part: Part) -> bool:
        """Blanks are a gap within a line; at its end or start only where a sentence breaks off."""
        before = "" if part.writer.at_line_start else self.text[match.start() - 1]
        after = self.text[match.end()] if match.end() < part.end else "\n"
        if before and after != "\n":
            return True
        if not before or self.key:
            return not self.key and after in _AFTER_A_GAP
        goes_on = _GOES_ON.match(self.text, match.end(), part.end)
        return bool(goes_on) and before not in _SENTENCE_ENDS

    # ---- formulas and tables ----

    def _is_formula(self, match: Match, part: Part) -> bool:
        self._found = self.source.formula(match.start(), part.end)
        return self._found is not None

    def _formula(self, match: Match, part: Part) -> int | None:
        formula = self._found
        if formula is None:
            return None
        span = (formula.begin, formula.until)
        self._mathematics(span, formula.end, part.writer, display=formula.display)
        return formula.end

    def _mathematics(self, span: Span, end: int, writer: Writer, *, display: bool) -> None:
        """Write TeX for KaTeX to draw; displayed on lines of its own it is a block."""
        tex = escape(INVISIBLE.sub("", drawn_tex(self.text[slice(*span)])), quote=False)
        alone = display and writer.flow and writer.at_line_start
        if alone and _REST_IS_BLANK.match(self.text, end) and not writer.marked(*span):
            writer.block(f'<div class="math block">{tex}</div>\n')
        else:
            css = "math block" if display else "math inline"
            writer.whole(f'<span class="{css}">{tex}</span>', *span)

    def _environment(self, match: Match, part: Part) -> int | None:
        r"""``tabular`` is a table, ``align`` and the like are formulas, the rest stays as it is."""
        begin = match.start()
        name, body, until, end = self.source.environments.get(begin, ("", 0, 0, part.end + 1))
        if end > part.end:
            return None
        if name == "center":
            return self._centred_table(body, until, part)
        is_array = name == "array" and self._has_lines(body, until)
        if name == "tabular" or is_array:
            rows = latex_rows(self.source, body, until) if part.depth < DEEPEST else None
            if rows is None:
                return None
            within = replace(part, cell=True)
            html = table_html(
                rows, lambda cell: self._cell(cell, within, formulas=is_array), head=False
            )
            (part.writer.block if part.writer.flow else part.writer.inline)(html)
            return end + self.text.startswith(".\\end{center}", end)
        if name in _DISPLAYED and end - begin <= LONGEST_FORMULA:
            self._mathematics((begin, end), end, part.writer, display=True)
            return end
        return None

    def _has_lines(self, body: int, until: int) -> bool:
        """Whether an ``array`` outside of mathematics has the lines of a table."""
        columns = self.text[body : self.source.braces.get(body, body)]
        return "|" in columns or -1 < self.source.find("\\hline", body) < until

    def _centred_table(self, body: int, until: int, part: Part) -> int | None:
        """What centres a table is not seen, nor the full stop that stands for a line end there."""
        if not self.text[body : body + 40].lstrip(" .\n").startswith("\\begin{tabular"):
            return None
        self._closing.add(until)
        part.writer.end_paragraph()
        return self.source.find("\\begin{tabular", body)

    def _centre(self, match: Match, part: Part) -> int | None:
        if match.start() not in self._closing:
            return None
        part.writer.end_paragraph()
        return match.end()

    def _cell(self, cell: Cell, part: Part, *, formulas: bool = False) -> str:
        """What a cell holds; in an ``array`` everything but words is a formula."""
        html = []
        for begin, end in cell.spans:
            found = self.text[begin:end]
            begin += len(found) - len(found.lstrip())
            end -= len(found) - len(found.rstrip())
            words = _WORDS_ONLY.fullmatch(self.text, begin, end) if formulas else None
            writer = part.writer.child()
            if words:
                writer.plain(*words.span(1))
            elif formulas and _TEX_SIGN.search(self.text, begin, end):
                self._mathematics((begin, end), end, writer, display=False)
            else:
                html.append(self._within(begin, end, part))
            html.append(writer.html())
        return "".join(html)

    # ---- commands for words in a cell of LaTeX ----

    def _command(self, match: Match, part: Part) -> int | None:
        close = self.source.braces.get(match.end(), part.end)
        if close >= part.end or part.depth >= DEEPEST:
            return None
        inner = self._within(match.end() + 1, close, part)
        strong = match[0].startswith("\\textbf")
        part.writer.inline(f"<strong>{inner}</strong>" if strong else inner)
        return close + 1

    def _sign(self, match: Match, part: Part) -> int:
        part.writer.plain(match.start() + 1, match.end())
        return match.end()

    def _brace(self, match: Match, part: Part) -> int | None:
        """A pair of braces groups and is not seen; a single one is."""
        close = self.source.braces.get(match.start(), part.end)
        if close < part.end:
            self._closing.add(close)
        elif match.start() not in self._closing:
            return None
        return match.end()

    # ---- images, and what a model marks ----

    def _image(self, match: Match, part: Part) -> int | None:
        """An image of the bank by its name; any other stays as it is written and loads nothing."""
        near = self.source.find("](", match.start()) != -1
        image = _IMAGE.match(self.text, match.start(), part.end) if near else None
        url = self.images.get(image[2].removeprefix("image:")) if image else None
        if image is None or url is None:
            return None
        name = escape(image[1].strip() or self.names.image)
        part.writer.whole(f'<img src="{escape(url)}" alt="{name}">', *image.span())
        return image.end()

    def _bold(self, match: Match, part: Part) -> int | None:
        """Two stars, words, two stars on one line; a power or a product of numbers is none."""
        begin = match.end()
        until = self.source.find("**", begin)
        if len(match[0]) != 2 or not begin < until < self._line_end(begin, part) - 1:
            return None
        inside = self.text[begin:until]
        if inside != inside.strip() or self.text[until + 2 : until + 3] == "*":
            return None
        if self._is_power(match.start()) or self._is_power(until) or part.depth >= DEEPEST:
            return None
        part.writer.inline(f"<strong>{self._within(begin, until, part)}</strong>")
        return until + 2

    def _is_power(self, stars: int) -> bool:
        """Whether a Latin letter, a digit or a bracket stands on both sides: 2**3 is a power."""
        around = self.text[max(stars - 1, 0) : stars] + self.text[stars + 2 : stars + 3]
        return bool(_POWER.fullmatch(around))

    def _code(self, match: Match, part: Part) -> int | None:
        begin = match.end()
        until = self.source.find("`", begin)
        if len(match[0]) != 1 or not begin < until < self._line_end(begin, part):
            return None
        if self.text[until + 1 : until + 2] == "`":
            return None
        code = shown(self.text[begin:until])
        part.writer.whole(f"<code>{code}</code>", begin, until)
        return until + 1
