"""The normal form of a mathematical answer as text, and its division outside brackets.

Full width becomes half width, Unicode signs become LaTeX commands; layout (dollars,
``\\left``, LaTeX spaces, display sizes) is removed; words are put in ``\\text{}``.
Nothing is computed here, and every step is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿ", "0123456789+-()n", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₙ", "0123456789+-n", strict=True))
_SIGNS = {
    sign: command
    for command, signs in (
        *((r"\times ", "×✕"), (r"\cdot ", "⋅·∙"), ("*", "∗"), ("/", "÷⁄∕"), ("-", "−–—‐‑﹣")),
        *((r"\pm ", "±"), (r"\mp ", "∓"), (r"\sqrt ", "√"), (r"\sqrt[3]", "∛"), (r"\sqrt[4]", "∜")),
        *(
            (r"\pi ", "π"),
            (r"\Pi ", "Π"),
            (r"\infty ", "∞"),
            (r"^\circ ", "°º˚"),
            (r"\text{℃}", "℃"),
        ),
        *((r"\le ", "≤⩽≦"), (r"\ge ", "≥⩾≧"), (r"\ne ", "≠"), (r"\approx ", "≈≒")),
        *((r"\cup ", "∪⋃"), (r"\cap ", "∩"), (r"\in ", "∈"), (r"\emptyset ", "∅Ø")),
        *((r"\mathbb{R}", "ℝ"), (r"\mathbb{Z}", "ℤ"), (r"\mathbb{N}", "ℕ")),
        *(
            (":", "∶"),
            ("|", "∣"),
            (",", "、，"),
            (".", "。"),
            (";", "；"),
            ("{", "﹛"),
            ("}", "﹜"),
        ),
        *((r"\rho ", "ρ"), (r"\sigma ", "σ"), (r"\tau ", "τ"), (r"\phi ", "φϕ"), (r"\chi ", "χ")),
        *((r"\psi ", "ψ"), (r"\omega ", "ω")),
    )
    for sign in signs
}
_GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron"
_SIGNS |= {chr(0x3B1 + place): rf"\{name} " for place, name in enumerate(_GREEK.split())}
_VULGAR = {
    character: unicodedata.normalize("NFKC", character).replace("⁄", "/")
    for character in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
}
_INVISIBLE = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0f\ufeff"
    "\U000e0000-\U000e007f]"
)
_CIRCLED = re.compile(r"\\(?:textcircled|circled)\s*\{?\s*(\d{1,2})\s*\}?")
_WORDS = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|mbox|hbox|mathrm|mathbf|mathit|mathsf|operatorname|rm|bf|it)"
    r"(?![A-Za-z])\*?\s*\{([^{}]*)\}"
)
_LAYOUT = (
    # A space between the thousands is part of the number.
    (re.compile(r"(?<=\d)(?:\\[,!;:]|\{,\}|,\\!|,\s?\\,|~)(?=\d{3}(?!\d))"), ","),
    (re.compile(r"\A(-?\d+)\.\s+(\d+)(?=\.?\s*\Z)"), r"\1.\2"),
    (re.compile(r"根号下?"), r"\\sqrt "),
    (re.compile(r"\\!"), ""),
    (
        re.compile(
            r"(?<!\\)\\(?:[,;: ]|q?quad(?![A-Za-z])|thinspace|displaystyle|textstyle|limits)|~"
        ),
        " ",
    ),
    (re.compile(r"\\(?:left|right|[bB]ig{1,2}[lrm]?|big)(?![A-Za-z])\s*\.?(?=[^A-Za-z.]|\Z)"), ""),
    (re.compile(r"\\[dtc]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\(?:rm|bf|it|mathrm|mathbf|boldsymbol|vec|overrightarrow)(?![A-Za-z])"), " "),
    (re.compile(r"(?<!\\)\\[()\[\]]|(?<!\\)\$+|(?<!\\)`|\*\*(?=\s|\Z)|\A\*\*"), ""),
    (re.compile(r"\\(?:leq|leqslant|le|lt(?=\s*=))(?![A-Za-z])"), r"\\le "),
    (re.compile(r"\\(?:geq|geqslant|ge)(?![A-Za-z])"), r"\\ge "),
    (re.compile(r"<="), r"\\le "),
    (re.compile(r">="), r"\\ge "),
    (re.compile(r"!=|\\neq(?![A-Za-z])|\\not\s*="), r"\\ne "),
    (re.compile(r"\\lt(?![A-Za-z])|&lt;"), "<"),
    (re.compile(r"\\gt(?![A-Za-z])|&gt;"), ">"),
    (re.compile(r"\\varnothing(?![A-Za-z])"), r"\\emptyset "),
    (re.compile(r"\\(?:bigcup)(?![A-Za-z])"), r"\\cup "),
    (re.compile(r"\\(?:lvert|rvert|vert|mid)(?![A-Za-z])"), "|"),
    (re.compile(r"\\(?:lbrace)(?![A-Za-z])"), r"\\{"),
    (re.compile(r"\\(?:rbrace)(?![A-Za-z])"), r"\\}"),
    (re.compile(r"\\colon(?![A-Za-z])|\\ratio(?![A-Za-z])"), ":"),
    (re.compile(r"\^\s*\{\s*\\circ\s*\}|\^\s*\\circ(?![A-Za-z])|\\degree(?![A-Za-z])"), r"°"),
    (re.compile(r"°\s*(?:C|\\text\{\s*C\s*\})(?![A-Za-z])"), r"\\text{℃}"),
    (re.compile(r"\\%|\\text\{\s*percent\s*\}|(?<![A-Za-z])per ?cent(?![A-Za-z])|％"), "%"),
    (re.compile(r"\\\$"), "$"),
    (re.compile(r"\\#"), "#"),
    (re.compile(r"\\(?:dots|ldots|cdots)(?![A-Za-z])"), "..."),
    (re.compile(r"\*\*"), "^"),
    (re.compile(r"\s+"), " "),
)
_SINGLE_LETTER = frozenset("eidπ")


def normal_text(text: str) -> str:
    """Return the normal form of *text*; "" if nothing is left to read."""
    text = _INVISIBLE.sub("", text)
    text = _raised(_raised(text, _SUPERSCRIPTS, "^"), _SUBSCRIPTS, "_")
    text = _CIRCLED.sub(
        lambda m: chr(0x245F + int(m[1])) if 1 <= int(m[1]) <= 20 else f"({int(m[1])})", text
    )
    text = "".join(_plain(character) for character in text)
    text = re.sub(r"(?<=\d)\x1f", " ", text).replace("\x1f", "")
    text = _WORDS.sub(_words, text)
    for pattern, replacement in _LAYOUT:
        text = pattern.sub(replacement, text)
    return text.strip()


def _plain(character: str) -> str:
    """Return one character in its plain spelling, a fraction with a mark before it."""
    if character in _VULGAR:
        return f"\x1f{_VULGAR[character]}"
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isascii() or "①" <= character <= "⑳":
        return character
    return unicodedata.normalize("NFKC", character)


def _raised(text: str, table: dict[str, str], sign: str) -> str:
    """Replace raised (or lowered) digits by a group after *sign*."""
    run = re.compile(f"[{''.join(table)}]+")
    return run.sub(lambda m: f"{sign}{{{''.join(table[c] for c in m[0])}}}", text)


def _words(match: re.Match[str]) -> str:
    """Keep a word as text; upright e, i and d mean the same as italic ones."""
    content = match[1].strip(" ~")
    letter = match[0].startswith((r"\mathrm", r"\mathbf")) and re.fullmatch("[A-Za-z]", content)
    if letter or content in _SINGLE_LETTER or re.fullmatch(r"[\d.,+\-\s]*", content):
        return f" {content} "
    return content if re.fullmatch(r"[①-⑳]+", content) else rf"\text{{{content}}}"


_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")
_THOUSANDS = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,])")


def top_level(text: str) -> Iterator[int]:
    """Yield the positions of *text* outside brackets."""
    depth = 0
    for position, character in enumerate(text):
        if character in _OPEN:
            depth += 1
        elif character in _CLOSE:
            depth = max(depth - 1, 0)
        elif not depth:
            yield position


def split(text: str, separators: str) -> list[str]:
    """Cut *text* at each of the characters *separators* outside brackets."""
    return _cut(text, [place for place in top_level(text) if text[place] in separators])


def split_list(text: str) -> list[str]:
    """Cut *text* at its commas, except those between the thousands of a number."""
    kept = {place for match in _THOUSANDS.finditer(text) for place in range(*match.span())}
    cuts = [place for place in top_level(text) if text[place] == "," and place not in kept]
    return [piece for piece in _cut(text, cuts) if piece]


def _cut(text: str, cuts: list[int]) -> list[str]:
    starts = [0, *(cut + 1 for cut in cuts)]
    return [text[start:end].strip() for start, end in zip(starts, [*cuts, len(text)], strict=True)]


def enclosed(text: str) -> tuple[str, str, str] | None:
    """Return opening bracket, content and closing bracket if one pair encloses all of *text*."""
    opener = 2 if text.startswith(r"\{") else 1
    if not text or text[opener - 1] not in _OPEN or text[-1] not in _CLOSE:
        return None
    depth = 0
    for position, character in enumerate(text[:-1]):
        depth += (character in _OPEN) - (character in _CLOSE)
        if not depth and position >= opener - 1:
            return None
    if depth != 1:
        return None
    closer = 2 if text.endswith(r"\}") else 1
    return text[opener - 1], text[opener : len(text) - closer].strip(), text[-1]
