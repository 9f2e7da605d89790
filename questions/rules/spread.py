"""Where each of several people begins in one queue, so that they meet as late as possible."""

from __future__ import annotations

from fractions import Fraction


def beginning(rank: int) -> Fraction:
    """The share of the queue that lies before the person with this *rank*, from 0 to under 1.

    Ranks count from 0: 0, 1/2, 1/4, 3/4, 1/8, 5/8 ... Each begins in the middle of
    a widest gap, and nobody moves when one more person comes. It is van der
    Corput's sequence in base 2 (1935): the binary digits of the rank behind the
    point, the last one first. A negative rank raises ValueError.
    """
    if rank < 0:
        raise ValueError("ranks count from 0")
    digits = f"{rank:b}"
    return Fraction(int(digits[::-1], 2), 2 ** len(digits))
