"""The text of an output prepared for reading, with the original offset of every character.

Full-width forms are converted; markup, invisible characters, struck out text and
reasoning blocks are removed. ``SourceText.span`` gives offsets in the original output.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from evaluations.reading.rules.extraction.reading import Span

Edit = tuple[int, int, str]

# <eoa> and <eoe> end a field of GAOKAO-Bench's format; no reading crosses this mark.
FIELD_END = "\x1e"


@dataclass(frozen=True, slots=True)
class SourceText:
    """``text`` to read; ``starts[i]`` is the original offset of ``text[i]``."""

    text: str
    starts: Sequence[int]

    def part(self, start: int, end: int) -> SourceText:
        """Return the slice from *start* to *end* with its offsets."""
        return SourceText(self.text[start:end], self.starts[start:end])

    def span(self, start: int, end: int) -> Span:
        """Return the original offsets of ``text[start:end]`` without outer blanks; never empty."""
        words = self.text[start:end]
        first = start + len(words) - len(words.lstrip())
        last = max(end - (len(words) - len(words.rstrip())), first + 1)
        return self.starts[first], self.starts[last - 1] + 1

    def edited(self, edits: Iterable[Edit]) -> SourceText:
        """Apply *edits* in order: start, end, replacement of at most one character."""
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


# The answer is at the end: of a longer output (without its reasoning), only this much is read.
LONGEST = 16_000


def plain_source(output: str) -> SourceText:
    """Return *output* prepared for reading, at most its last ``LONGEST`` characters.

    Linear in the length of *output*.
    """
    plain = output
    if not output.isascii():
        for form, replacement in _COMMON:
            plain = plain.replace(form, replacement)
        plain = plain.translate(_ONE_TO_ONE) if _FORMS.search(plain) else plain
    source = SourceText(plain, range(len(output)))
    source = source.edited(reasoning_blocks(source.text))
    if len(source.text) > LONGEST:
        source = source.part(len(source.text) - LONGEST, len(source.text))
    return source.edited(_markup(source.text))


def _letter_forms() -> dict[int, str]:
    """Map full-width ASCII, circled, parenthesised and mathematical letters to plain ones."""
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    table |= {0x24B6 + index: chr(ord("A") + index) for index in range(26)}
    table |= {0x24D0 + index: chr(ord("a") + index) for index in range(26)}
    table |= {0x249C + index: chr(ord("a") + index) for index in range(26)}
    mathematical = {
        code: unicodedata.normalize("NFKC", chr(code)) for code in range(0x1D400, 0x1D6A4)
    }
    return table | {code: form for code, form in mathematical.items() if form.isascii()}


_PUNCTUATION = str.maketrans("　〖〗“”„「」『』‘’‛＇﹒｡︰﹕", ' 【】"""""""\'\'\'\'.。::')
# The traditional characters that occur in the wordings of an answer.
_TRADITIONAL = str.maketrans(
    "選擇應該項題確錯誤對為這個認說無與還從綜據結論絕覺顯當滿給僅隻並屬於須",
    "选择应该项题确错误对为这个认说无与还从综据结论绝觉显当满给仅只并属于须",
)
_ONE_TO_ONE = _PUNCTUATION | _TRADITIONAL | _letter_forms()

# These are so common in Chinese that replacing each is faster than translating every character.
_COMMON = tuple((form, form.translate(_ONE_TO_ONE)) for form in "，：；（）？！“”")
# Matches every character of ``_ONE_TO_ONE``; ranges are faster to search than a long list.
_FORMS = re.compile(
    "[\uff01-\uff5e\u249c-\u24e9\U0001d400-\U0001d6a3"
    f"{''.join(map(chr, _PUNCTUATION | _TRADITIONAL))}]"
)


_REASONING_TAG = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)>", re.IGNORECASE
)


def reasoning_blocks(text: str) -> list[Edit]:
    """Return the edits that remove the blocks between reasoning tags.

    A closing tag without an opening one ends a block that starts at the beginning
    (chat templates often open it in the prompt); an unclosed block extends to the
    end. One pass over the tags, so nested tags take linear time.
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
# The first character of a piece of markup; blanks may precede a heading or a quotation.
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
        start = position = found.start()
        if text[position] in "#>":  # the blanks before it are removed too
            while start > max(done, position - _MOST_INDENT) and text[start - 1] == " ":
                start -= 1
        match = _MARKUP.match(text, start)
        if match is None:
            position += 1
            continue
        found_edits, position = _markup_edits(match)
        done = position
        edits += found_edits
    return edits


def _markup_edits(match: re.Match[str]) -> tuple[list[Edit], int]:
    """Return the edits for one piece of markup, and the position where the search continues.

    A formula is replaced by a blank, because its letters are variables. The label of an
    option at its beginning is kept, in brackets, unless there are several. A single
    letter, a box and running text between dollars are kept.
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


_FORMULA_FORMS = {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_FORMULA_FORMS |= {"　": " ", "〖": "【", "〗": "】", "\u2028": "\n", "\0": " "}
_FORMULA_FORM = re.compile(f"[{''.join(map(re.escape, _FORMULA_FORMS))}]")
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff\U000e0000-\U000e007f]"
)
# Each alternative begins with another character, which makes the search fast.
_FORMULA_MARKUP = re.compile(
    rf"<(?:(?P<end>eo[ae])|(?P<line>br ?/?))>|{_INVISIBLE.pattern}"
    r"|(?P<bold>\*\*)(?!\*)|(?P<heading>#{1,6} |> )"
)
_FORMULA_REPLACEMENT = {"end": FIELD_END, "line": "\n"}
_LINE_START = re.compile(r"(?:\A|\n) {0,3}\Z")
_OPERAND_BEFORE = re.compile(r"[\w)}\]]\Z")
_OPERAND_AFTER = re.compile(r"[\w({\\-]")
# The answer is at the end: of a longer output, the text before this is not read.
MOST_READ = 20_000


def formula_source(output: str) -> SourceText:
    """Return the last 20,000 characters of *output*, prepared for reading mathematics.

    Unlike ``plain_source`` it keeps dollars, braces, subscripts and signs, because they
    are the answer. It removes reasoning blocks and invisible characters, converts
    full-width signs, and marks the ends of fields. Linear in the text.
    """
    begin = max(0, len(output) - MOST_READ)
    plain = _FORMULA_FORM.sub(lambda match: _FORMULA_FORMS[match[0]], output[begin:])
    source = SourceText(plain, range(begin, len(output)))
    source = source.edited(reasoning_blocks(source.text))
    text = source.text
    if not any(sign in text for sign in "<*#>") and not _INVISIBLE.search(text):
        return source
    edits: list[Edit] = []
    for match in _FORMULA_MARKUP.finditer(text):
        start, end = match.span()
        if match["bold"] and (
            _OPERAND_BEFORE.search(text, max(0, start - 1), start)
            and _OPERAND_AFTER.match(text, end)
        ):
            continue  # two stars between operands are a power
        if match["heading"] and not _LINE_START.search(text, max(0, start - 4), start):
            continue
        edits.append((start, end, _FORMULA_REPLACEMENT.get(match.lastgroup or "", "")))
    return source.edited(edits)
