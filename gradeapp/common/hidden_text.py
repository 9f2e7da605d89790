r"""Finds text that a model reads and a person does not see, and makes it visible.

Invisible are characters without a width that carry a message (runs of them, tags, variation
selectors), controls that reorder a line, and TeX that draws in the colour of the paper, draws
nothing, or draws a word too small to read. What is found is a property of the text alone.

Texts of people and publishers hold single zero-width spaces from web pages, joiners in emoji and
Persian words, and ``\hphantom{2}`` for a blank: none of these is hidden text.
"""

from __future__ import annotations

import re

from gradeapp.common.hidden_tex import Hidden, tex_kinds, with_characters

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
ANY_INVISIBLE = re.compile(f"[{_ORDER}{_TAGS}{_ZERO}]")
MOST_ZERO_WIDTH = 40  # in one text, apart from each other


def hidden_kinds(text: str) -> tuple[Hidden, ...]:
    """How *text* hides something; empty for a text that shows all that it says."""
    found = []
    text = with_characters(text)
    if not text.isascii():
        if re.search(f"[{_ORDER}]", text):
            found.append(Hidden.ORDER)
        if re.search(f"[{_TAGS}]", text):
            found.append(Hidden.TAGS)
        apart = len(re.findall(f"[{_ZERO}]", text))
        if apart > MOST_ZERO_WIDTH or re.search(f"[{_ZERO}]{{3}}", text):
            found.append(Hidden.ZERO_WIDTH)
    return (*found, *tex_kinds(text))


def visible(text: str) -> str:
    """*text* without the spaces around it; empty where nothing of it can be seen."""
    return text.strip() if ANY_INVISIBLE.sub("", text).strip() else ""


def code_point(character: str) -> str:
    """The name of a character by its number: ``U+202E``."""
    return f"U+{ord(character):04X}"


def with_order_shown(text: str) -> str:
    """*text* with a number in brackets for each character that would reorder or hide some of it.

    For a file that is read where nothing else marks them; single zero-width characters stay.
    """
    return INVISIBLE.sub(lambda match: f"[{code_point(match[0])}]", text)


def with_code_points(text: str) -> str:
    """*text* with a number in brackets for each invisible character: for the view of the source."""
    return ANY_INVISIBLE.sub(lambda match: f"[{code_point(match[0])}]", text)
