"""Which of many texts are alike: runs of four characters, hashed and sketched with numpy.

A run is four characters that stand together. Jaccard's index of two texts is
the share of their different runs that both have, from 0 to 1. Candidates come
from a bottom-k sketch: the smallest hashes of each text among the runs that
some texts share and few do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

RUN = 4
SKETCH = 16  # runs of a text that are compared for likely pairs
SHARED = 3  # how many of them make a candidate
MOST_TEXTS = 24  # a run in more texts than this is a phrase, and leads nowhere

Hashes = NDArray[np.uint64]
_BREAK, _FILL = "\x00", "\x01"
# Odd numbers with their bits spread (Knuth's multiplicative hashing), one a place of the run.
_FACTORS = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5],
    dtype=np.uint64,
)
_TEXT_BITS = np.uint64(22)
_MOST = 1 << 22


class TextRuns:
    """The runs of many texts; each text is a sequence of words that no run crosses."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        """Raises ValueError for more than four million texts: their numbers share the hash."""
        if len(texts) >= _MOST:
            raise ValueError("too many texts to compare at once")
        hashes, owners = _hashed(texts)
        keys = _different((hashes & ~np.uint64(_MOST - 1)) | owners)
        self._hashes = keys >> _TEXT_BITS  # in order, so that equal ones stand together
        self._owners = (keys & np.uint64(_MOST - 1)).astype(np.int64)
        by_owner = np.argsort(self._owners, kind="stable")
        self._by_text = self._hashes[by_owner]
        self._begins = np.searchsorted(self._owners[by_owner], np.arange(len(texts) + 1))

    def of(self, text: int) -> Hashes:
        """The different runs of one text, sorted."""
        return self._by_text[self._begins[text] : self._begins[text + 1]]

    def jaccard(self, one: int, other: int) -> float:
        """The index of two texts; 0 where one of them has no run."""
        return jaccard(self.of(one), self.of(other))

    def likely_pairs(self) -> Iterator[tuple[int, int]]:
        """Pairs of texts, the lower first, whose sketches share enough; in order, each once."""
        begins = np.flatnonzero(np.diff(self._hashes, prepend=np.uint64(0)) != 0)
        counts = np.diff(begins, append=len(self._hashes))
        frequency = np.repeat(counts, counts)
        telling = np.zeros(len(self._hashes), dtype=bool)
        telling[len(self._hashes) - len(frequency) :] = (frequency > 1) & (frequency <= MOST_TEXTS)
        hashes, owners = self._hashes[telling], self._owners[telling]
        order = np.argsort(owners, kind="stable")
        hashes, owners = hashes[order], owners[order]
        rank = np.arange(len(owners)) - np.searchsorted(owners, owners, side="left")
        yield from _pairs(hashes[rank < SKETCH], owners[rank < SKETCH], len(self._begins))


def jaccard(one: Hashes, other: Hashes) -> float:
    """The index of two sorted sets of runs."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / (len(one) + len(other) - both) if both else 0.0


def contained(one: Hashes, other: Hashes) -> float:
    """The share of the smaller set that the larger one has; 0 where one is empty."""
    both = len(np.intersect1d(one, other, assume_unique=True))
    return both / min(len(one), len(other)) if both else 0.0


def runs_of(text: str) -> Hashes:
    """The different runs of *text*, sorted, as ``TextRuns`` has them."""
    return TextRuns([[text]]).of(0)


def _hashed(texts: Sequence[Sequence[str]]) -> tuple[Hashes, Hashes]:
    """The hash of every run of every text, and the number of the text it is from."""
    joined = [_BREAK.join(word.ljust(RUN, _FILL) for word in words if word) for words in texts]
    lengths = np.array([len(text) + 1 for text in joined], dtype=np.int64)
    data = np.frombuffer((_BREAK.join(joined) + _BREAK).encode("utf-32-le"), dtype=np.uint32)
    codes = data.astype(np.uint64)
    count = max(len(codes) - RUN + 1, 0)
    hashes = np.zeros(count, dtype=np.uint64)
    whole = np.ones(count, dtype=bool)
    for place in range(RUN):
        part = codes[place : place + count]
        hashes += part * _FACTORS[place]
        hashes ^= hashes >> np.uint64(29)
        whole &= part != 0
    hashes *= _FACTORS[0]
    owners = np.repeat(np.arange(len(texts), dtype=np.uint64), lengths)[:count]
    return hashes[whole], owners[whole]


def _different(values: Hashes) -> Hashes:
    """The different ones of *values*, sorted; ``np.unique`` hashes, which is slow for these."""
    ordered = np.sort(values)
    different: Hashes = ordered[np.diff(ordered, prepend=~ordered[:1]) != 0]
    return different


def _pairs(hashes: Hashes, owners: NDArray[np.int64], most: int) -> Iterator[tuple[int, int]]:
    """Pairs of owners (below *most*) of the same hash, where their sketches share enough."""
    sizes = np.bincount(owners, minlength=most)
    order = np.argsort(hashes, kind="stable")
    hashes, owners = hashes[order], owners[order]
    found = [np.zeros(0, dtype=np.int64)]
    for distance in range(1, MOST_TEXTS):  # owners of one hash stand side by side, in order
        same = hashes[distance:] == hashes[:-distance]
        found.append(owners[:-distance][same] * most + owners[distance:][same])
    pairs, shared = np.unique_counts(np.sort(np.concatenate(found)))
    order = np.argsort(pairs)
    ones, others = np.divmod(pairs[order], most)
    needed = np.minimum(SHARED, np.minimum(sizes[ones], sizes[others]))
    enough = shared[order] >= needed
    yield from zip(ones[enough].tolist(), others[enough].tolist(), strict=True)
