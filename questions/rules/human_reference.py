"""How people did on one item, joined from several published rates.

With rates r_i, weights w_i and sample sizes n_i, the joined rate is

    r = sum(w_i * n_i * r_i) / sum(w_i * n_i)

where every rate names its sample size: that is the share of all people asked,
weighted. Where one of them names none, sizes cannot be compared and the weights
alone count (n_i = 1 for all). AGIBench publishes one rate an item without a
size; several sources of one item are common for past papers. The sum and the
quotient are exact decimals as far as 28 digits go, so that a rate on the border
of two levels stays there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate as a share from 0 to 1; ``sample_size`` is None where the source names none."""

    value: Decimal
    weight: Decimal = Decimal(1)
    sample_size: int | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """The joined rate of an item from ``rates`` rates.

    ``people`` is the sum of the sample sizes, None where one of them is missing.
    """

    value: Decimal
    rates: int
    people: int | None


def joined(rates: Sequence[Rate]) -> Reference | None:
    """The joined rate; None where there is none, or where no weight is above 0."""
    sizes = [rate.sample_size for rate in rates if rate.sample_size]
    sized = len(sizes) == len(rates)
    weights = [
        rate.weight * rate.sample_size if sized and rate.sample_size else rate.weight
        for rate in rates
    ]
    whole = sum(weights, Decimal(0))
    if whole <= 0:
        return None
    value = sum((w * r.value for w, r in zip(weights, rates, strict=True)), Decimal(0)) / whole
    return Reference(value, len(rates), sum(sizes) if sized else None)
