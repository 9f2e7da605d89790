"""Figures that a text speaks of, holds, or links to.

This module stands alone: it imports only the standard library.
"""

from __future__ import annotations

import re

# "如图", "下图", "图1", "由图可知"; not 试图, 按图索骥, 地图, 清明上河图3.0 or 插图 2353 幅.
_FIGURE_ZH = re.compile(
    r"[如见][上下左右]?图(?!书)|(?<![一-龥])[据由读从]图[中可所知，]|[下上右左]图(?!书|案|形|像|画|谋|章)"
    r"|(?<![一-龥])图\s?(?:\d|[一二三四甲乙丙丁①②③④]|[a-dA-D](?![A-Za-z]))"
    r"|(?:下面|下列|以下|所给|给定)的?(?:[一二三四五六七八九十\d]{1,2}个)?图形"
    r"|(?<![试企意版地])图中(?=[的所各字母曲线甲乙A-Za-z$①②])|[按如据]图示|图示装置"
)
_FIGURE_EN = re.compile(
    r"(?i)\b(?:figure|graph|diagram|chart|picture)s?\s+"
    r"(?:above|below|shown|at (?:the )?(?:left|right))"
    r"|\bin the (?:figure|diagram)\b|\b(?:are|is) shown (?:above|below)\b|\bfigure \d"
)
_WORDS_EN = ("figure", "graph", "diagram", "chart", "picture", "shown")
_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\(\s*([^)\s]{1,500})")
_REFERENCE = re.compile(r"!\[[^\]\n]*\]\(image:([^)\s]*)\)")
# A picture that is drawn in the text itself: Asymptote, TikZ, a table.
_DRAWN = re.compile(r"\[asy\]|\\begin\s?\{(?:tikzpicture|tabular|array|picture)|\|\s*:?-{2,}")


def mentioned_figure(text: str) -> str | None:
    """The words with which *text* speaks of a figure that it does not hold itself; else None."""
    if holds_picture(text) or _DRAWN.search(text):
        return None
    # A plain word is found a hundred times faster than a pattern without a fixed beginning.
    mention = _FIGURE_ZH.search(text) if "图" in text else None
    small = text.lower()
    if mention is None and any(word in small for word in _WORDS_EN):
        mention = _FIGURE_EN.search(text)
    return mention and text[max(mention.start() - 12, 0) : mention.end() + 12].strip()


def holds_picture(text: str) -> bool:
    """Whether there is an image in *text*."""
    return "![" in text and bool(_IMAGE.search(text))


def linked_pictures(text: str) -> int:
    """How many images of *text* lie on some other server."""
    return sum(name.startswith(("http:", "https:", "//")) for name in _IMAGE.findall(text))


def referenced_images(*texts: str) -> list[str]:
    """The names in ``![alt](image:name)`` in the order they first appear."""
    found = (name for text in texts for name in _REFERENCE.findall(text))
    return list(dict.fromkeys(found))
