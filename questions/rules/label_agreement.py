"""How far two curators agree on one label, beyond what chance would give.

Cohen's kappa (J. Cohen, A coefficient of agreement for nominal scales, 1960)
for two raters who each name one value for the same n items:

    kappa = (p_o - p_e) / (1 - p_e)

p_o is the share of items with the same value, p_e the sum over values of the
product of the two raters' shares. It is nominal: a level next to the other
counts as much apart as a far one. 1 is full agreement, 0 what chance gives,
below 0 less than that. It has no value where nothing was rated by both, and
where both named one and the same value throughout (p_e = 1): agreement and
chance cannot be told apart.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

V = TypeVar("V", bound=Hashable)

NO_PAIRS = "no_pairs"
ONE_VALUE = "one_value"


@dataclass(frozen=True, slots=True)
class LabelAgreement(Generic[V]):
    """Agreement of two curators on one label over ``n`` items.

    ``kappa`` is None with a ``reason`` (``no_pairs`` or ``one_value``). ``table``
    counts the pairs: what the first named, what the second named.
    """

    n: int
    agreed: int
    kappa: float | None
    reason: str
    table: dict[tuple[V, V], int]

    @property
    def raw(self) -> float | None:
        """The share of items on which both named the same value; None without items."""
        return self.agreed / self.n if self.n else None

    @property
    def apart(self) -> list[tuple[V, V, int]]:
        """What they named differently and how often, most often first."""
        pairs = [(a, b, count) for (a, b), count in self.table.items() if a != b]
        return sorted(pairs, key=lambda pair: -pair[2])


def label_agreement(pairs: Sequence[tuple[V, V]]) -> LabelAgreement[V]:
    """Agreement over *pairs* (the first's value, the second's value), one an item."""
    n = len(pairs)
    table = Counter(pairs)
    agreed = sum(count for (a, b), count in table.items() if a == b)
    if not n:
        return LabelAgreement(0, 0, None, NO_PAIRS, {})
    firsts, seconds = Counter(a for a, _b in pairs), Counter(b for _a, b in pairs)
    # Fractions: whether p_e is 1 must not hang on rounding.
    chance = sum((Fraction(firsts[v] * seconds[v], n * n) for v in firsts), Fraction(0))
    if chance == 1:
        return LabelAgreement(n, agreed, None, ONE_VALUE, dict(table))
    kappa = (Fraction(agreed, n) - chance) / (1 - chance)
    return LabelAgreement(n, agreed, float(kappa), "", dict(table))


# The first character of each letter in GB 2312; i, u and v begin no syllable.
_FIRST = "啊芭擦搭蛾发噶哈击喀垃妈拿哦啪期然撒塌挖昔压匝"
_LETTERS = "abcdefghjklmnopqrstwxyz"
_BOUNDS = [int.from_bytes(character.encode("gb2312")) for character in _FIRST]
_END = 0xD7F9  # the last character of the first level


def pinyin_initials(text: str) -> str:
    """The initials of *text* in lower case; Latin letters and digits stay, the rest is left out."""
    return "".join(map(_initial, text))


def _initial(character: str) -> str:
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    try:
        code = int.from_bytes(character.encode("gb2312"))
    except UnicodeEncodeError:
        return ""
    if not _BOUNDS[0] <= code <= _END:
        return ""
    return _LETTERS[bisect_right(_BOUNDS, code) - 1]
