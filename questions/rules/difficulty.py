"""The difficulty level of an item from the share of people who got it right.

Source: AGIBench, section 3.2: 80-100 % is level 1, 60-80 % 2, 40-60 % 3,
20-40 % 4, 0-20 % 5, each with its lower border. All 927 published levels agree;
the human values of the paper's figure 4 fit the upper border instead.
"""

from __future__ import annotations

from decimal import Decimal

# The lowest rate of each level, from the easiest; what is below all is level 5.
LOWER_BOUNDS: tuple[tuple[Decimal, int], ...] = (
    (Decimal("0.8"), 1),
    (Decimal("0.6"), 2),
    (Decimal("0.4"), 3),
    (Decimal("0.2"), 4),
)
HARDEST = 5


def difficulty_level(rate: Decimal) -> int:
    """The level, 1 (easy) to 5 (hard), of a rate from 0 to 1; raises ValueError outside.

    The rate counts as it is, without rounding: 0.79996 is level 2.
    """
    if not rate.is_finite() or not 0 <= rate <= 1:
        raise ValueError(f"a rate lies between 0 and 1, not {rate}")
    return next((level for bound, level in LOWER_BOUNDS if rate >= bound), HARDEST)
