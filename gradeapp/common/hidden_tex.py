r"""Finds TeX that draws words so that nobody sees them, and takes it away so that they show.

What counts is what KaTeX knows: definitions and choices that drop words, colours of the paper,
phantoms, sizes too small to read, and lengths that move words over others or out of sight. Honest
texts hold ``\hphantom{2}`` for a blank, ``\textcolor{red}{x}`` and a few ``\!``: these stay.
Characters that are given by their number are read as the characters that KaTeX writes.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator

from gradeapp.common.named import Named


class Hidden(Named):
    """A way to hide text."""

    ORDER = "order", "Characters that change the order of the text", "改变文字顺序的控制字符"
    TAGS = "tags", "Invisible tag characters", "不可见的标签字符"
    ZERO_WIDTH = "zero_width", "A run of characters without width", "连续的零宽字符"
    COLOUR = "colour", "Words in the colour of the paper", "与底色相同的文字"
    PHANTOM = "phantom", "Words that take space and are not drawn", "只占位不显示的文字"
    TINY = "tiny", "Words too small to read", "小到无法阅读的文字"
    OVERLAP = "overlap", "Words drawn over each other or moved away", "重叠或移出视野的文字"
    LEFT_OUT = "left_out", "TeX that leaves words out", "使文字不显示的 TeX 命令"


_END = r"(?![A-Za-z@])"
# \renewcommand{\arraystretch}{1.5} sets rows further apart; below 0.8 they are over each other.
_LEFT_OUT = re.compile(
    rf"\\(?:[gex]?def|let|futurelet|global(?:let|long|future)?|long|mathchoice|TextOrMath|show"
    rf"|(?:err)?message){_END}"
    r"|\\(?:new|renew|provide)command(?![A-Za-z@]"
    r"|\s*+\{?+\s*+\\arraystretch\s*+\}?+\s*+\{\s*+(?:0?\.[89]|[1-9])[0-9.]{0,4}\s*+\})"
    r"|\\[A-Za-z]{0,30}@[A-Za-z@]{0,30}"
)
# Commands of which KaTeX draws the name alone, without their words, in a text that is not trusted.
_UNTRUSTED = re.compile(rf"\\(?:href|url|includegraphics|html(?:Class|Data|Id|Style)){_END}")
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*+)%")

_COLOUR = re.compile(
    rf"\\(?P<name>(?:text)?color|f?colorbox){_END}\s*+(?:\[[A-Za-z]{{1,8}}\])?+\s*+"
    r"(?:\{(?P<value>[^{}]{0,40})\}|(?P<bare>[A-Za-z]{1,20}))"
)
_TEXT = r"\\text"
_FRAME = re.compile(rf"\\fcolorbox{_END}\s*+\{{[^{{}}]{{0,40}}\}}\s*+\{{[^{{}}]{{0,40}}\}}")
# Drawn as they are: they can be read on light and on dark paper.
_READABLE = frozenset(
    ("red", "blue", "green", "orange", "purple", "magenta", "brown", "teal", "violet", "gray")
)
_LIGHT = frozenset(
    """
    white transparent ivory snow ghostwhite whitesmoke floralwhite mintcream azure aliceblue
    honeydew lavender lavenderblush lightcyan lightyellow lightgoldenrodyellow lemonchiffon linen
    oldlace papayawhip seashell beige antiquewhite cornsilk blanchedalmond bisque gainsboro
    lightgray lightgrey mistyrose moccasin navajowhite palegoldenrod peachpuff powderblue
    paleturquoise wheat khaki lightpink lightblue thistle silver canvas field window
    """.split()  # noqa: SIM905 (a list of 40 lines says no more)
)
_OF_LETTERS = re.compile(
    rf"\\(?:(?:blue|teal|green|gold|red|maroon|purple|mint|gray)[A-I]|kaBlue|kaGreen){_END}"
)

_PHANTOM = re.compile(rf"\\[hv]?phantom{_END}\s*+")
_COMMAND = re.compile(r"\\[A-Za-z]{1,30}\s*+")
_WORDS = re.compile(
    r"[A-Za-z]{2,}+[^{}]{0,20}[A-Za-z]{2}|[A-Za-z]{4}|[\u4e00-\u9fff]{2}"
    r"|\\(?:text|math(?:rm|sf|tt|bf|it)|mbox|hbox)"
)
LONGEST_PHANTOM, MOST_LETTERS = 400, 20

_TINY = re.compile(
    rf"\\(?:tiny|sixptsize|scriptscriptstyle){_END}"
    r"|\\fontsize\s*+\{\s*+[0-3](?:\.\d{1,4})?\s*+(?:pt|px|em)?\s*+\}"
    r"|\\scalebox\s*+\{\s*+0?\.[0-3]"
)
_ANY_SIZE = re.compile(
    rf"\\(?:tiny|sixptsize|scriptscriptstyle){_END}"
    r"|\\fontsize\s*+\{[^{}]{0,20}\}\s*+\{[^{}]{0,20}\}|\\scalebox\s*+\{[^{}]{0,20}\}"
)

_LAP = re.compile(rf"\\(?:(?:math)?[lrc]lap|(?:math)?reflectbox|tmspace){_END}")
_AMOUNT = r"\s*+(?P<sign>[-+]?)\s*+(?P<number>\d++(?:\.\d*+)?|\.\d++)\s*+(?P<unit>[a-z]{2})"
_LENGTH = re.compile(
    rf"\\(?P<name>m?kern|[hm]skip|mspace|hspace\*?|raisebox){_END}\s*+(?P<brace>\{{?){_AMOUNT}"
    r"\s*+(?(brace)\}?)"
)
# \\[-2em] draws a row over the one before.
_ROW = re.compile(rf"(?P<name>\\\\\*?|\\newline|\\cr)\s*+\[{_AMOUNT}\s*+\]")
_BACK = re.compile(rf"\\(?P<name>!|neg(?:thin|med|thick)space{_END})")
_BACK_EM = {"!": 3 / 18, "negthinspace": 3 / 18, "negmedspace": 4 / 18, "negthickspace": 5 / 18}
_SIZES = {"Huge": 2.49, "huge": 2.07, "LARGE": 1.73, "Large": 1.44, "large": 1.2}
_SIZES |= {"small": 0.9, "footnotesize": 0.8, "scriptsize": 0.7}
_SIZE = re.compile(rf"\\({'|'.join(_SIZES)}){_END}")
# What may take no width between two steps back: commands with what they are given, scripts, spaces.
_NO_WIDTH = re.compile(
    rf"\\(?:left|right|[bB]igg?[lrm]?){_END}\s*+\.|\\char{_END}\s*+['\"`]?+\\?+[0-9A-Za-z]*+"
    rf"|\\color{_END}\s*+#?+[0-9A-Za-z]++|\\(?:[A-Za-z@]++|.)\s*+(?:[\[{{][^{{}}\[\]]*+[}}\]]\s*+)*+"
    r"|[_^]\s*+(?:\{[^{}]*+\}|.)|[^!-~\u4e00-\u9fff]|[{}&$~'`\\]",
    re.DOTALL,
)
_RULE = re.compile(
    rf"\\rule{_END}\s*+(?:\[[^\[\]{{}}]{{0,20}}\])?+\s*+\{{(?P<width>[^{{}}]{{0,20}})\}}\s*+"
    rf"\{{{_AMOUNT}\s*+\}}"
)
_EM = {"em": 1.0, "ex": 0.45, "mu": 1 / 18, "sp": 1 / 655360, "pt": 0.1, "px": 0.075, "bp": 0.1}
_EM |= {"dd": 0.107, "nd": 0.107, "mm": 0.28, "cm": 2.8, "in": 7.2, "pc": 1.2, "cc": 1.28}
_EM |= {"nc": 1.28}
# In em: what steps back may add up to, since a digit is half an em wide, and further back it stands
# before the one it follows; how far a row may move up, and a box up or down; what boxes may move
# down within NEAR characters; what one and all may move on; how high what is drawn black may be.
MOST_BACK, MOST_UP, MOST_RAISED, MOST_DOWN_NEAR = 0.5, 0.8, 1.5, 2.0
MOST_ON, MOST_ON_NEAR, MOST_BLACK = 15.0, 40.0, 1.5
# The least that a sign takes; how much larger than a sign of the smallest script its em may be.
NARROW, IN_SCRIPT = 0.25, 2.0
SMALL = 3.0
NEAR = 300

_CHAR = re.compile(
    rf"(?<!\\)((?:\\\\)*+)\\char{_END}\s*+"
    r"(?:'(?P<octal>[0-7]++)|\"(?P<hex>[0-9A-Fa-f]++)|(?P<decimal>[0-9]++))\s*+"
)


def tex_kinds(text: str) -> tuple[Hidden, ...]:
    """How the TeX in *text* hides something; empty if it shows all that it says."""
    if "\\" not in text:
        return ()
    found = {
        Hidden.COLOUR: _hides_by_colour(text),
        Hidden.PHANTOM: _hides_by_phantoms(text),
        Hidden.TINY: bool(_TINY.search(text)),
        Hidden.OVERLAP: bool(_LAP.search(text)) or _moves(text),
        Hidden.LEFT_OUT: bool(_LEFT_OUT.search(text)),
    }
    return tuple(kind for kind, is_there in found.items() if is_there)


def with_characters(text: str) -> str:
    r"""*text* with the characters that ``\char`` writes by their numbers, but those of ASCII."""
    return _CHAR.sub(_character, text) if r"\char" in text else text


def _character(match: re.Match[str]) -> str:
    base = {"octal": 8, "hex": 16, "decimal": 10}[match.lastgroup or "hex"]
    digits = match[match.lastgroup or 0].lstrip("0") or "0"
    number = int(digits, base) if len(digits) < 12 else sys.maxunicode + 1
    if number > sys.maxunicode or " " <= chr(number) <= "~":
        return match[0]
    # Controls and halves of characters have no place in a page.
    has_place = unicodedata.category(chr(number)) not in ("Cc", "Cs")
    return match[1] + (chr(number) if has_place else "\ufffd")


def visible_tex(text: str) -> str:
    """*text* without the TeX that hides words; the words stay, and so does all other TeX."""
    if not tex_kinds(text):
        return text
    for pattern in (_LEFT_OUT, _OF_LETTERS, _PHANTOM, _ANY_SIZE, _LAP, _BACK):
        text = pattern.sub(" ", text)
    text = _COLOUR.sub(_without_colour, _FRAME.sub(_TEXT, text))
    text = _RULE.sub(lambda one: " " if _is_black(one) else one[0], text)
    text = _LENGTH.sub(lambda one: one[0] if _is_small(one) else " ", text)
    return _ROW.sub(lambda one: one["name"] if one["sign"] == "-" else one[0], text)


def drawn_tex(formula: str) -> str:
    """What is drawn of the TeX of one formula: all words that it holds, in colours one can read.

    A comment is drawn as the text that it is, and so are the words of a link.
    """
    formula = with_characters(formula)
    if "%" in formula:
        formula = _COMMENT.sub(r"\1\\%", formula)
    if "\\" not in formula:
        return formula
    shown = _FRAME.sub(_TEXT, visible_tex(_UNTRUSTED.sub(" ", formula)))
    return _COLOUR.sub(lambda one: one[0] if _is_readable(one) else _without_colour(one), shown)


def _hides_by_colour(text: str) -> bool:
    if _OF_LETTERS.search(text):
        return True
    return any(_is_light(_colour(one)) for one in _COLOUR.finditer(text) if _is_of_words(one))


def _colour(match: re.Match[str]) -> str:
    return (match["value"] or match["bare"] or "").strip().lower().removeprefix("#")


def _without_colour(match: re.Match[str]) -> str:
    """What stands for a colour that is taken away: what is in a coloured box is text."""
    return " " if _is_of_words(match) else r"\text"


def _is_of_words(match: re.Match[str]) -> bool:
    return match["name"] in ("color", "textcolor")


def _is_readable(match: re.Match[str]) -> bool:
    return _is_of_words(match) and _colour(match) in _READABLE


def _is_light(colour: str) -> bool:
    """Whether *colour* is too near to that of light paper, or lets it through."""
    if re.fullmatch(r"[0-9a-f]{4}|[0-9a-f]{8}", colour):
        return True
    if re.fullmatch(r"[0-9a-f]{3}|[0-9a-f]{6}", colour):
        step = len(colour) // 3
        parts = [int(colour[at : at + step] * (3 - step), 16) for at in range(0, 3 * step, step)]
        return min(parts) >= 0xE0
    if "," in colour:
        numbers = [float(one) for one in re.findall(r"\d{1,4}(?:\.\d{1,6})?", colour)]
        whole = 255 if max(numbers, default=0) > 1 else 1
        return len(numbers) > 2 and min(numbers) >= 0.88 * whole
    return colour in _LIGHT


def _hides_by_phantoms(text: str) -> bool:
    letters = 0
    for one in _PHANTOM.finditer(text):
        inside = _argument(text, one.end())
        if _WORDS.search(inside):
            return True
        letters += sum(sign.isalpha() for sign in _COMMAND.sub("", inside))
    return letters > MOST_LETTERS


def _argument(text: str, start: int) -> str:
    """Return the argument of a command that ends at *start*, with those of a command in it."""
    end = min(len(text), start + LONGEST_PHANTOM)
    if command := _COMMAND.match(text, start, end):
        if command[0].strip() == r"\text" or not text.startswith("{", command.end()):
            return command[0]
        return command[0] + _argument(text, command.end())
    depth = 0
    for at in range(start, end):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth <= 0:
            return text[start : at + 1]
    return text[start:end]


def _em(match: re.Match[str]) -> float:
    """The length in *match*, in em; one of an unknown unit is as many em."""
    number = min(float(match["number"]), 1e6) * _EM.get(match["unit"], 1.0)
    return -number if match["sign"] == "-" else number


def _is_small(match: re.Match[str]) -> bool:
    """Whether a length stays where the text hides something elsewhere."""
    return match["name"] != "raisebox" and 0 <= _em(match) <= SMALL


def _is_black(match: re.Match[str]) -> bool:
    """Whether a rule is high enough to cover words, or to push them away."""
    is_strut = re.match(r"\s*[-+]?[0.]+\s*[a-z]", match["width"]) is not None
    return _em(match) > (MOST_ON if is_strut else MOST_BLACK)


def _moves(text: str) -> bool:
    if any(_is_black(one) for one in _RULE.finditer(text)):
        return True
    down: list[tuple[int, float]] = []
    on: list[tuple[int, float]] = []
    for one in _LENGTH.finditer(text):
        em = _em(one)
        is_raised = one["name"] == "raisebox"
        if em > MOST_ON or (is_raised and abs(em) > MOST_RAISED):
            return True
        if em >= 0 or is_raised:
            (down if em < 0 else on).append((one.start(), abs(em)))
    for one in _ROW.finditer(text):
        if not -MOST_UP <= _em(one) <= MOST_ON:
            return True
        on.append((one.start(), abs(_em(one))))
    if _most_near(down) > MOST_DOWN_NEAR or _most_near(on) > MOST_ON_NEAR:
        return True
    return max(_sums_back(text), default=0.0) > MOST_BACK + 0.001


def _sums_back(text: str) -> Iterator[float]:
    """How far before the signs drawn last each step back leads, in em of the smallest of them."""
    steps = [(one.span(), _BACK_EM[one["name"]]) for one in _BACK.finditer(text)]
    steps += [
        (one.span(), -_em(one) * (1.0 if one["unit"] == "mu" else IN_SCRIPT))
        for one in _LENGTH.finditer(text)
        if one["sign"] == "-" and one["name"] != "raisebox"
    ]
    sizes = {_SIZES[one] for one in _SIZE.findall(text)} | {1.0} if steps else {1.0}
    end, total = 0, 0.0
    for (start, after), em in sorted(steps):
        width = NARROW * len(_NO_WIDTH.sub("", _LENGTH.sub(" ", text[end:start])))
        total = max(0.0, total - width) + em * max(sizes) / min(sizes)
        end = after
        yield total


def _most_near(lengths: Iterable[tuple[int, float]]) -> float:
    """The most that lengths, by their places, add up to within ``NEAR`` characters."""
    return max(_sums_near(sorted(lengths)), default=0.0)


def _sums_near(lengths: list[tuple[int, float]]) -> Iterator[float]:
    first, total = 0, 0.0
    for place, length in lengths:
        total += length
        while lengths[first][0] < place - NEAR:
            total -= lengths[first][1]
            first += 1
        yield total
