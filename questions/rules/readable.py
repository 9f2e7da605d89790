"""The text of an item on one line for the eye and for search: formulas as signs, no markup.

``$\\frac{1}{2}mv^{2}$`` reads ``1/2mv²``. A list shows it and search looks in
it, so that a curator finds what is seen. Nothing is computed from it. Texts are not
Markdown: stars, ``#`` and entities are text, and so is ``<`` unless it begins an HTML tag.

Search texts are stored: whoever changes what is read here says in the changelog that
``rebuild_search`` has to be run.
"""

from __future__ import annotations

import re

_SIGNS = {
    **{"times": "×", "div": "÷", "cdot": "·", "pm": "±", "mp": "∓", "circ": "°", "prime": "′"},
    **{"leq": "≤", "le": "≤", "leqslant": "≤", "geq": "≥", "ge": "≥", "geqslant": "≥"},
    **{"neq": "≠", "ne": "≠", "approx": "≈", "equiv": "≡", "sim": "~", "infty": "∞"},
    **{"therefore": "∴", "because": "∵", "triangle": "△", "angle": "∠", "perp": "⊥"},
    **{"in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆", "cap": "∩", "cup": "∪"},
    **{"varnothing": "∅", "emptyset": "∅", "forall": "∀", "exists": "∃", "neg": "¬"},
    **{"wedge": "∧", "vee": "∨", "mid": "|", "parallel": "∥", "sum": "∑", "int": "∫"},
    **{"rightarrow": "→", "to": "→", "longrightarrow": "→", "leftarrow": "←"},
    **{"Rightarrow": "⇒", "Leftrightarrow": "⇔", "rightleftharpoons": "⇌"},
    **{"uparrow": "↑", "downarrow": "↓", "ldots": "…", "cdots": "…", "dots": "…"},
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε"},
    **{"eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π"},
    **{"rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ", "psi": "ψ", "omega": "ω"},
    **{"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Pi": "Π", "Sigma": "Σ"},
    **{"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "odot": "⊙", "square": "□", "bullet": "•"},
    **{"partial": "∂", "nabla": "∇", "ell": "ℓ", "star": "⋆", "surd": "√", "deg": "°"},
    **{"quad": " ", "qquad": " ", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋"},
}
# Functions keep their name; every other command only says how its argument looks.
_NAMED = frozenset(
    {"sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "ln", "lg", "log"}
    | {"exp", "lim", "max", "min", "gcd", "det", "mod"}
)
_BELOW = dict(zip("0123456789+-=()n", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙ", strict=True))
_ABOVE = dict(zip("0123456789+-=()n°′", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ°′", strict=True))

_IMAGE = re.compile(r"!\[[^\]\n]{0,200}\]\([^)\n]{0,300}\)")
# The marks that end an entry of GAOKAO-Bench, and the tags that format text in sources.
_TAG_NAMES = (
    "eo[ea]|abbr|big|blockquote|br|center|code|div|dl|dt|dd|em|font|h[1-6]|hr|img|ins|li|ol|pre"
    "|script|section|small|span|strike|strong|style|su[bp]|table|tbody|td|tfoot|thead"
    "|th|tr|ul|[abipqsu]"
)
# Attributes have their values in quotes: "a<b and c=d>e" has none.
_TAG = re.compile(
    rf"</? {{0,2}}(?P<name>{_TAG_NAMES})"
    r"""(?:\s{1,9}[a-z-]{1,30}\s?=\s?(?:"[^"<>]{0,200}"|'[^'<>]{0,200}')){0,9}\s{0,9}/?>""",
    re.IGNORECASE,
)
_FORMULA_OR_TAG = re.compile(
    rf"\$[^$]{{1,1000}}\$|\\\(.{{0,400}}?\\\)|\\\[.{{0,400}}?\\\]|{_TAG.pattern}",
    re.IGNORECASE | re.DOTALL,
)
_ENVIRONMENT = re.compile(
    r"\\(?:begin|end)\s*\{[a-z*]{1,20}\}(?:\{[lcr|\s]{1,40}\})?|\\(?:left|right)\s*\."
    r"|\\multirow\s*\{[^{}]{0,20}\}\s*\{\*\}|\\hline"  # in sources glued to a word
)
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]{0,200})\}\s*\{([^{}]{0,200})\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]{0,200})\}")
_STYLES = r"(?:text[a-z]*|math[a-z]+|bold[a-z]*|operatorname|vec|bar|hat|dot|(?:over|under)[a-z]+)"
_STYLE = re.compile(rf"\\{_STYLES}\s*\{{([^{{}}]{{0,200}})\}}")
_SHAPES = re.compile(rf"\\(?:{_STYLES}|[dt]?frac|sqrt)\s?")
_COMMAND = re.compile(r"\\([a-zA-Z]+) ?")
_LEFT = re.compile(r"\\[a-zA-Z]+")
_RAISED = re.compile(r"([_^])(?:\{\s*([^{}]{1,12}?)\s*\}|([0-9A-Za-z°′+-]))")
# The end of a row; what stands behind it is no command.
_ROW_END = re.compile(r"\\\\")
_APART = re.compile(r"\\[,;:! ]")
_RULE = re.compile(r"\|[\s|:-]*\|")
_MARKUP = str.maketrans("", "", "${}\\")
_BLANKS = re.compile(r"_{2,}")
_SIMPLE = re.compile(r"[\w.]*")


def readable(text: str) -> str:
    """*text* on one line with its formulas as signs; images and tags leave a blank."""
    if "<" in text:
        text = _without_tags(text)
    if "![" in text:
        text = _IMAGE.sub(" ", text)
    text = _BLANKS.sub("＿", text)
    if "$" in text or "\\" in text:
        text = _formulas(text)
    if "|" in text:
        text = _RULE.sub(" ", text)
    return " ".join(text.translate(_MARKUP).split())


def _without_tags(text: str) -> str:
    """*text* with a blank for each HTML tag outside of formulas; inequalities stay.

    A name of one letter is a tag only together with its end: ``a<b>c`` has none.
    """
    ended = {tag["name"].lower() for tag in _TAG.finditer(text) if tag[0].startswith("</")}

    def blank(found: re.Match[str]) -> str:
        name = (found["name"] or "").lower()
        return " " if len(name) > 1 or name in ended else found[0]

    return _FORMULA_OR_TAG.sub(blank, text)


def _formulas(text: str) -> str:
    """Signs for commands; then styles, powers, roots and fractions from the inside out."""
    text = _COMMAND.sub(_sign, _ENVIRONMENT.sub(" ", _ROW_END.sub(" ", text)))
    for _ in range(4):
        inner = _RAISED.sub(_raised, _STYLE.sub(r"\1", text))
        inner = _ROOT.sub(lambda found: "√" + _grouped(found[1]), inner)
        inner = _FRACTION.sub(lambda found: f"{_grouped(found[1])}/{_grouped(found[2])}", inner)
        if inner == text:
            break
        text = inner
    return _LEFT.sub("", _APART.sub(" ", text))


def _grouped(part: str) -> str:
    """*part* of a fraction in brackets, unless it is one number or letter."""
    part = part.strip()
    return part if _SIMPLE.fullmatch(part) else f"({part})"


def _sign(found: re.Match[str]) -> str:
    name = found[1]
    if name in _NAMED:
        return f"{name} "
    return _SIGNS.get(name) or (found[0] if _SHAPES.fullmatch(found[0]) else "")


def _raised(found: re.Match[str]) -> str:
    """An index or a power with Unicode's own small digits, where it has them."""
    signs = _BELOW if found[1] == "_" else _ABOVE
    inner = (found[2] or found[3]).strip("{} ")
    if all(sign in signs for sign in inner):
        return "".join(signs[sign] for sign in inner)
    return inner if found[1] == "_" else f"^{inner}"
