"""The order in which the options of a question are shown to a model, by its repeat.

The printed letters stay in alphabetical order, and the texts of the options change places. An order
names the printed letters of the options as they are shown: with ``CDAB`` the text of option C
stands at A. Only questions whose options stand apart from the stem can be shown so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Protocol

from evaluations.conditions import OptionOrder

# Options that speak of other options ("both A and C", "none of the above") lose their meaning in
# another order.
_OF_OTHERS = re.compile(
    r"以上|上述|(?:of|the) above|\bbelow\b|"
    r"(?<![A-Za-z])[A-G]\s*(?:和|与|或|、|and|or|&)\s*[A-G](?![A-Za-z])",
    re.IGNORECASE,
)


class Asked(Protocol):
    """What of a revision of a question is shown."""

    letters: str
    options: list[str]

    def asked_with(self, options: Sequence[str]) -> str:
        """Return the whole text with *options* at the letters in their order."""


def can_reorder(letters: str, options: Sequence[str]) -> bool:
    """Return whether *options* may change places: apart from the stem, and none names others."""
    apart = 1 < len(options) == len(letters) == len(set(letters))
    return apart and not any(_OF_OTHERS.search(option) for option in options)


def shown_order(
    letters: str,
    options: Sequence[str],
    *,
    order: OptionOrder,
    question: str,
    repeat: int,
    random_seed: int,
) -> str:
    """Return the printed letters of *options* in the order shown in *repeat* (from 1).

    Empty: as printed, also where the options cannot change places. ``rotated``: repeat r begins
    with option r, so that after as many repeats as options each one stood at each letter once.
    ``shuffled``: a permutation drawn from *random_seed*, *question* (its id in the source) and
    *repeat*; the same arguments always give the same one.
    """
    if order is OptionOrder.PRINTED or not can_reorder(letters, options):
        return ""
    if order is OptionOrder.ROTATED:
        first = (repeat - 1) % len(letters)
        shown = letters[first:] + letters[:first]
    else:
        drawn = list(letters)
        Random(f"{random_seed}:{question}:{repeat}").shuffle(drawn)
        shown = "".join(drawn)
    return "" if shown == letters else shown


def reordered(options: Sequence[str], letters: str, shown: str) -> list[str]:
    """Return *options*, which are printed at *letters*, in the order *shown* (empty: printed)."""
    at = dict(zip(letters, options, strict=False))
    return [at[letter] for letter in shown] if shown else list(options)


def asked_as_shown(revision: Asked, shown: str) -> str:
    """Return the text of *revision* with its options in the order *shown*."""
    return revision.asked_with(reordered(revision.options, revision.letters, shown))


def as_printed(answers: Sequence[str | None], letters: str, shown: str) -> tuple[str | None, ...]:
    """Return *answers*, letters as they were shown, as the letters that are printed.

    Each answer is a letter, a set of letters, or None; sets come back in alphabetical order. A
    letter that no option has stays.
    """
    return _changed(answers, dict(zip(letters, shown, strict=True))) if shown else tuple(answers)


def as_shown(answers: Sequence[str], letters: str, shown: str) -> tuple[str, ...]:
    """Return *answers*, printed letters such as those of a key, as the letters that were shown."""
    if not shown:
        return tuple(answers)
    changed = _changed(answers, dict(zip(shown, letters, strict=True)))
    return tuple(answer or "" for answer in changed)


def _changed(answers: Sequence[str | None], letters: dict[str, str]) -> tuple[str | None, ...]:
    return tuple(
        answer and "".join(sorted(letters.get(letter, letter) for letter in answer))
        for answer in answers
    )
