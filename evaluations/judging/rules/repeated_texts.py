"""Find one text that a model gives to many questions: the attack of a null model.

Texts are compared by sets of five characters, in capital and small letters alike and without
blanks, by MinHash (Broder 1997): the share of equal minima of 64 random orders estimates the
Jaccard similarity of the sets, with a standard error of at most 0.06. Short texts are alike only
if they are the same. Source of the attack: Zheng et al. (2025), Cheating Automatic LLM Benchmarks,
arXiv:2410.07137.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

Key = TypeVar("Key", bound=Hashable)

# Texts to so many questions are a notice, if they are so alike.
FEWEST = 20
ALIKE = 0.8
# Texts below SHORTEST, such as one number, are the same by chance; those below WHOLE are compared
# as a whole. Of a long text the beginning is compared.
SHORTEST, WHOLE, LONGEST = 8, 40, 4000
PIECE = 5
ORDERS = 64
_RANDOM = np.random.default_rng(20251017)
_FACTORS = _RANDOM.integers(1, 2**62, ORDERS, dtype=np.uint64) * 2 + 1
_ADDED = _RANDOM.integers(0, 2**62, ORDERS, dtype=np.uint64)
_PLACES = _RANDOM.integers(1, 2**62, LONGEST, dtype=np.uint64) * 2 + 1


def repeated(texts: Sequence[tuple[Key, str]]) -> list[Key]:
    """Return the keys of the largest group of *texts* that are alike, in their order.

    *texts* are answers to different questions. Empty where fewer than ``FEWEST`` are alike.
    """
    marks = [(key, _minima(text)) for key, text in texts]
    usable = [(key, minima) for key, minima in marks if minima is not None]
    if len(usable) < FEWEST:
        return []
    table = np.array([minima for _key, minima in usable])
    largest = np.zeros(len(usable), dtype=bool)
    for minima in table:
        group = (table == minima).mean(axis=1) >= ALIKE
        if group.sum() > largest.sum():
            largest = group
    found = [key for (key, _minima), inside in zip(usable, largest, strict=True) if inside]
    return found if len(found) >= FEWEST else []


def _minima(text: str) -> npt.NDArray[np.uint64] | None:
    """Return the least value of the pieces of *text* in each order; None for a very short text."""
    plain = "".join(text.casefold().split())[:LONGEST]
    if len(plain) < SHORTEST:
        return None
    coded = plain.encode("utf-32-le", "surrogatepass")
    signs = np.frombuffer(coded, dtype=np.uint32).astype(np.uint64)
    length = PIECE if len(plain) >= WHOLE else len(plain)
    with np.errstate(over="ignore"):
        pieces = np.lib.stride_tricks.sliding_window_view(signs, length)
        values = np.unique((pieces * _PLACES[:length]).sum(axis=1, dtype=np.uint64))
        values = (values ^ (values >> np.uint64(29))) * _FACTORS[0]
        values ^= values >> np.uint64(32)
        mixed = values[:, None] * _FACTORS[None, :] + _ADDED[None, :]
    return np.asarray(mixed.min(axis=0), dtype=np.uint64)
