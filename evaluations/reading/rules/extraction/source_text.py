"""An output made plain for reading, which still knows where every character came from.

Full-width forms become half-width, markup and invisible characters go, struck
out text and reasoning blocks go; ``SourceText.span`` leads back to offsets in
the original output.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from evaluations.reading.rules.extraction.outcome import Span

Edit = tuple[int, int, str]

# <eoa> and <eoe> end a field of GAOKAO-Bench's format; nothing is read across this mark.
FIELD_END = "\x1e"


@dataclass(frozen=True, slots=True)
class SourceText:
    """``text`` to read; ``starts[i]`` is the original offset of ``text[i]``."""

    text: str
    starts: Sequence[int]

    def part(self, start: int, end: int) -> SourceText:
        """The slice from *start* to *end*, with its offsets."""
        return SourceText(self.text[start:end], self.starts[start:end])

    def span(self, start: int, end: int) -> Span:
        """Original offsets of ``text[start:end]`` without the blanks around it; not empty."""
        words = self.text[start:end]
        first = start + len(words) - len(words.lstrip())
        last = max(end - (len(words) - len(words.rstrip())), first + 1)
        return self.starts[first], self.starts[last - 1] + 1

    def edited(self, edits: Iterable[Edit]) -> SourceText:
        """With *edits* (start, end, replacement of at most one character), in order."""
        pieces: list[str] = []
        starts: list[int] = []
        position = 0
        for start, end, replacement in edits:
            pieces += self.text[position:start], replacement
            starts += self.starts[position:start]
            starts += self.starts[start : start + len(replacement)]
            position = end
        if not pieces:
            return self
        pieces.append(self.text[position:])
        starts += self.starts[position:]
        return SourceText("".join(pieces), starts)


# The end of an output decides: of one that is longer beside its reasoning, this much is read.
LONGEST = 16_000


def plain_source(output: str) -> SourceText:
    """*output* ready for reading, or its last ``LONGEST`` characters. Linear in its length."""
    source = SourceText(_plain_forms(output), range(len(output)))
    source = source.edited(reasoning_blocks(source.text))
    if len(source.text) > LONGEST:
        source = source.part(len(source.text) - LONGEST, len(source.text))
    return source.edited(_markup(source.text))


def _letter_forms() -> dict[int, str]:
    """Full-width ASCII, circled, parenthesised and mathematical letters: one for one."""
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    table |= {0x24B6 + index: chr(ord("A") + index) for index in range(26)}
    table |= {0x24D0 + index: chr(ord("a") + index) for index in range(26)}
    table |= {0x249C + index: chr(ord("a") + index) for index in range(26)}
    mathematical = {
        code: unicodedata.normalize("NFKC", chr(code)) for code in range(0x1D400, 0x1D6A4)
    }
    return table | {code: form for code, form in mathematical.items() if form.isascii()}


_PUNCTUATION = str.maketrans("　〖〗“”„「」『』‘’‛＇﹒｡︰﹕", ' 【】"""""""\'\'\'\'.。::')
# The traditional characters that the wordings of an answer are made of.
_TRADITIONAL = str.maketrans(
    "選擇應該項題確錯誤對為這個認說無與還從綜據結論絕覺顯當滿給僅隻並屬於須",
    "选择应该项题确错误对为这个认说无与还从综据结论绝觉显当满给仅只并属于须",
)
_ONE_TO_ONE = _PUNCTUATION | _TRADITIONAL | _letter_forms()

# So common in Chinese that replacing each is faster than looking every character up.
_COMMON = tuple((form, form.translate(_ONE_TO_ONE)) for form in "，：；（）？！“”")
# Holds every character of ``_ONE_TO_ONE``; ranges, because a long list is slow to look through.
_FORMS = re.compile(
    "[\uff01-\uff5e\u249c-\u24e9\U0001d400-\U0001d6a3"
    f"{''.join(map(chr, _PUNCTUATION | _TRADITIONAL))}]"
)


def _plain_forms(output: str) -> str:
    """*output* by ``_ONE_TO_ONE``."""
    if output.isascii():
        return output
    for form, plain in _COMMON:
        output = output.replace(form, plain)
    return output.translate(_ONE_TO_ONE) if _FORMS.search(output) else output


_REASONING_TAG = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)>", re.IGNORECASE
)


def reasoning_blocks(text: str) -> list[Edit]:
    """The blocks between reasoning tags, to be removed.

    A closing tag without an opening one ends a block that began with the text
    (chat templates often open it in the prompt); an unclosed block runs to the
    end. One pass over the tags, so nesting cannot make it quadratic.
    """
    edits: list[Edit] = []
    hidden_from: int | None = None
    closed = 0
    for match in _REASONING_TAG.finditer(text):
        if not match[1]:
            hidden_from = match.start() if hidden_from is None else hidden_from
            continue
        edits.append((closed if hidden_from is None else hidden_from, match.end(), ""))
        hidden_from, closed = None, match.end()
    if hidden_from is not None:
        edits.append((hidden_from, len(text), ""))
    return edits


_MARKUP = re.compile(
    r"(?P<field_end><eo[ae]>)"
    r"|(?P<line><br ?/?>)"
    r"|(?P<maths>\$\$?[^$\n]{1,400}\$\$?|\\\([^\n]{1,400}?\\\))"
    r"|(?P<blank>&nbsp;|\||\t|\\quad|\\qquad|\\ )"
    r"|(?P<gone>[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff\U000e0000-\U000e007f]"
    r"|~~[^~\n]{1,200}~~"
    r"|(?-i:</?[biu]>)|</?(?:em|strong|p|span|div|code|font|center|mark)(?: [^<>\n]{0,200})?>"
    r"|\*{1,3}|`{1,3}|(?<![A-Za-z0-9])_{1,3}|_{1,3}(?![A-Za-z0-9])"
    r"|(?m:^[ ]{0,3}(?:#{1,6}|>)) ?"
    r"|\\(?:text|textbf|textit|textrm|mathrm|mathbf|mathsf|mathit|rm|bf|large|Large)(?![A-Za-z])"
    r"|\\[()\[\],;!]|\$)",
    re.IGNORECASE,
)
# What a piece of markup begins with; before a heading or a quotation there may be blanks.
_MARKUP_START = re.compile(
    "[<$\\\\&|\t*`~_#>\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_MOST_INDENT = 3
_REPLACEMENT = {"field_end": FIELD_END, "line": "\n", "blank": " ", "gone": ""}
_FORMULA = re.compile(r"[=^_<>+]|\\(?!text|mathrm|mathbf|[()])[A-Za-z]")
_NO_FORMULA = re.compile(r"boxed|[\u3400-\u9fff]|[A-Za-z]{4,} [A-Za-z]{2,}")
# "\textbf{(D)}\frac12", "\text{D. }5": a formula that begins with the label of an option.
_UPRIGHT = r"\{?\\(?:text|textbf|textrm|textsf|mathrm|mathbf|mathsf|rm|bf)(?![A-Za-z])\s?\{?\s?"
_LABEL = re.compile(
    rf"(?:{_UPRIGHT}(?:\(\s?(?P<bracket>[A-G])\s?\)|(?P<dot>[A-G])\s?\}}?\s?[.)])"
    rf"|\(\s?{_UPRIGHT}(?P<inner>[A-G])\s?\}}?\s?\))"
    r"(?![\s~}]{0,3}(?:[\^_=<>]|\\(?:cup|cap|subset|supset|in|notin|times|cdot|perp|parallel|to|cong"
    r"|sim|le|leq|ge|geq|ne|neq|approx|Rightarrow)(?![A-Za-z])))"
)


def _markup(text: str) -> list[Edit]:
    edits: list[Edit] = []
    done = position = 0
    while found := _MARKUP_START.search(text, position):
        position = found.start()
        match = _MARKUP.match(text, _indented(text, position, done))
        if match is None:
            position += 1
            continue
        found_edits, position = _edits(match)
        done = position
        edits += found_edits
    return edits


def _indented(text: str, position: int, done: int) -> int:
    """Where the blanks before a heading or quotation begin; *position* for other markup."""
    if text[position] not in "#>":
        return position
    start = position
    while start > max(done, position - _MOST_INDENT) and text[start - 1] == " ":
        start -= 1
    return start


def _edits(match: re.Match[str]) -> tuple[list[Edit], int]:
    """Return the edits for one piece of markup, and where to look on.

    A formula becomes a blank: its letters are variables. The label of an option
    that it begins with stays, in brackets, unless there are several. What stands
    between dollars but is a letter, a box or running text keeps its content.
    """
    start, end = match.span()
    if match.lastgroup != "maths":
        return [(start, end, _REPLACEMENT[match.lastgroup or "gone"])], end
    opening = start + (1 if match[0].startswith("$") else 2)
    if _FORMULA.search(match[0][2:-2]) and not _NO_FORMULA.search(match[0]):
        labels = list(islice(_LABEL.finditer(match[0]), 2))
        first = labels[0] if len(labels) == 1 else None
        if first is None or match[0][: first.start()].strip("$\\([ "):
            return [(start, end, " ")], end
        letter = start + first.start(first.lastgroup or "dot")
        return [(start, letter, "("), (letter + 1, end, ")")], end
    return [(start, opening, "")], opening
