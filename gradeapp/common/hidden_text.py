r"""Finds text that a model reads and a person does not see, and makes it visible.

Invisible are characters without a width that carry a message (runs of them, tags, variation
selectors), controls that reorder a line, and TeX that draws in the colour of the paper, draws
nothing, or draws a word too small to read. What is found is a property of the text alone.

Texts of people and publishers hold single zero-width spaces from web pages, joiners in emoji and
Persian words, and ``\hphantom{2}`` for a blank: none of these is hidden text.
"""

from __future__ import annotations

import re

from gradeapp.common.named import Named


class Hidden(Named):
    """A way to hide text."""

    ORDER = "order", "Characters that change the order of the text", "改变文字顺序的控制字符"
    TAGS = "tags", "Invisible tag characters", "不可见的标签字符"
    ZERO_WIDTH = "zero_width", "A run of characters without width", "连续的零宽字符"
    COLOUR = "colour", "Words in the colour of the paper", "与底色相同的文字"
    PHANTOM = "phantom", "Words that take space and are not drawn", "只占位不显示的文字"
    TINY = "tiny", "Words too small to read", "小到无法阅读的文字"
    OVERLAP = "overlap", "Words drawn over each other", "重叠的文字"


_ORDER = "\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e0fff"
_ZERO = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
# A character that is shown as a sign of its own: any that reorders or encodes text, each of a run.
INVISIBLE = re.compile(
    f"[{_ORDER}{_TAGS}]|(?:(?<=[{_ZERO}][{_ZERO}])|(?=[{_ZERO}]{{3}})"
    f"|(?<=[{_ZERO}])(?=[{_ZERO}]{{2}}))[{_ZERO}]"
)
_ANY_INVISIBLE = re.compile(f"[{_ORDER}{_TAGS}{_ZERO}]")
MOST_ZERO_WIDTH = 40  # in one text, apart from each other

_PAPER = (
    r"(?:white|transparent|ivory|snow|ghostwhite|whitesmoke|floralwhite|mintcream|azure"
    r"|\#?[fF][0-9a-fA-F][fF][0-9a-fA-F][fF][0-9a-fA-F]|\#[fF]{3}|1(?:\.0?)?,\s?1(?:\.0?)?,\s?1(?:\.0?)?"
    r"|255,\s?255,\s?255)"
)
_COLOUR = re.compile(
    rf"\\(?:color|textcolor)\s{{0,3}}(?:\[[A-Za-z]{{1,8}}\])?\s{{0,3}}\{{\s{{0,3}}{_PAPER}\s{{0,3}}\}}"
    r"|\\color\s{0,3}white(?![A-Za-z])",
    re.IGNORECASE,
)
_LONG_PHANTOM = re.compile(
    r"\\[hv]?phantom\s{0,3}\{[^{}]{0,200}?(?:[A-Za-z]{2,}[^{}]{0,20}[A-Za-z]{2}|[\u4e00-\u9fff]{2})"
    r"|\\[hv]?phantom\s{0,3}\{[^{}]{0,20}\\(?:text|mathrm|mbox)"
)
_TINY = re.compile(
    r"\\(?:tiny|scriptscriptstyle)(?![A-Za-z])|\\fontsize\s{0,3}\{\s{0,3}[0-3](?:\.\d{1,4})?\s{0,3}(?:pt|px|em)?\s{0,3}\}"
    r"|\\scalebox\s{0,3}\{\s{0,3}0?\.[0-3]"
)
_OVERLAP = re.compile(
    r"\\(?:llap|rlap|clap|mathllap|mathrlap|mathclap)(?![A-Za-z])"
    r"|\\m?kern\s{0,3}-\s{0,3}(?:\d{2,}|[2-9])(?:\.\d{1,4})?\s{0,3}(?:em|mu|cm)"
    r"|\\hspace\*?\s{0,3}\{\s{0,3}-\s{0,3}(?:\d{2,}|[2-9])"
)
# What is taken away so that the words show: every colour, for a page may be dark.
_DRAWING = re.compile(
    r"\\(?:color|textcolor)\s{0,3}(?:\[[A-Za-z]{1,8}\])?\s{0,3}\{[^{}]{0,60}\}"
    r"|\\color\s{0,3}[A-Za-z]{1,20}"
    r"|\\(?:[hv]?phantom|tiny|scriptscriptstyle|(?:math)?[lrc]lap)(?![A-Za-z])"
    r"|\\fontsize\s{0,3}\{[^{}]{0,20}\}\s{0,3}\{[^{}]{0,20}\}|\\scalebox\s{0,3}\{[^{}]{0,20}\}"
    r"|\\m?kern\s{0,3}-\s{0,3}[0-9.]{1,10}\s{0,3}(?:em|ex|mu|cm|mm|pt|px)"
    r"|\\hspace\*?\s{0,3}\{\s{0,3}-[^{}]{0,20}\}"
)
_BY_TEX = (
    (Hidden.COLOUR, _COLOUR),
    (Hidden.PHANTOM, _LONG_PHANTOM),
    (Hidden.TINY, _TINY),
    (Hidden.OVERLAP, _OVERLAP),
)


def hidden_kinds(text: str) -> tuple[Hidden, ...]:
    """How *text* hides something; empty for a text that shows all that it says."""
    found = []
    if not text.isascii():
        if re.search(f"[{_ORDER}]", text):
            found.append(Hidden.ORDER)
        if re.search(f"[{_TAGS}]", text):
            found.append(Hidden.TAGS)
        apart = len(re.findall(f"[{_ZERO}]", text))
        if apart > MOST_ZERO_WIDTH or re.search(f"[{_ZERO}]{{3}}", text):
            found.append(Hidden.ZERO_WIDTH)
    if "\\" in text:
        found += [kind for kind, pattern in _BY_TEX if pattern.search(text)]
    return tuple(found)


def visible_tex(text: str) -> str:
    """*text* without the TeX that hides words; the words stay, and so does all other TeX."""
    if "\\" in text and any(pattern.search(text) for _, pattern in _BY_TEX):
        return _DRAWING.sub(" ", text)
    return text


def code_point(character: str) -> str:
    """The name of a character by its number: ``U+202E``."""
    return f"U+{ord(character):04X}"


def with_code_points(text: str) -> str:
    """*text* with a number in brackets for each invisible character: for the view of the source."""
    return _ANY_INVISIBLE.sub(lambda match: f"[{code_point(match[0])}]", text)
