"""Texts made comparable: width, space, punctuation and LaTeX spelling do not count.

This module stands alone: it imports only the standard library.
"""

from __future__ import annotations

import re

# Full-width ASCII (！ to ～) and the ideographic space.
_WIDE = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {0x3000: " "}
_SPELLINGS = {
    **dict.fromkeys("−–—﹣", "-"),
    **dict.fromkeys("≤≦⩽", "leq"),
    **dict.fromkeys("≥≧⩾", "geq"),
    "×": "times",
    "•": "cdot",
    "÷": "div",
    "·": "cdot",
    "π": "pi",
    "α": "alpha",
    "β": "beta",
    "θ": "theta",
    "∞": "infty",
    "∈": "in",
    "∩": "cap",
    "∪": "cup",
    "∠": "angle",
    "△": "triangle",
    "⊥": "perp",
    "°": "circ",
    "√": "sqrt",
    "²": "^2",
    "³": "^3",
}
_ONE_SPELLING = _WIDE | str.maketrans(_SPELLINGS)
# What only moves, sizes or sets upright: "\left(", "\quad", "\mathrm{kg}", "\,".
_NO_MEANING = re.compile(
    r"\\(?:left|right|[bB]igg?[lr]?|q?quad|displaystyle|limits|mathrm|mathbf|mathit|boldsymbol"
    r"|text|textbf|rm|operatorname|mathop|hspace\{[^}]{0,9}\})(?![a-zA-Z])|\\[,;:! ]|~"
)
_SAME = re.compile(r"\\(leq|geq)slant|\\(le|ge)(?![a-z])")
_NOT_COMPARED = re.compile(r"[^\w+\-=<>/^|%①-⑳]|_")


def squeezed(text: str) -> str:
    """*text* with ordinary width and no space at all; nothing else is touched."""
    return "".join((text if text.isascii() else text.translate(_WIDE)).split())


def comparable(text: str) -> str:
    """*text* as one spelling of its letters, digits and signs of operation, in small letters."""
    plain = text if text.isascii() else text.translate(_ONE_SPELLING)
    if "\\" in plain or "~" in plain:
        plain = _NO_MEANING.sub("", plain)
        plain = _SAME.sub(lambda match: f"{(match.group(1) or match.group(2))[:2]}q", plain)
    return _NOT_COMPARED.sub("", plain).lower()
