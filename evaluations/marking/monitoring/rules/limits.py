"""Limits of a round: which figures of a teacher the lead is warned of.

The numbers are our defaults, not a standard; a round may have its own or none
(docs/marking-protocol.md). A figure is looked at only once it rests on enough
marks, so that nobody is suspected for an unlucky hour.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation


@dataclass(frozen=True, slots=True)
class Limit:
    """``least`` or ``most`` that a figure may be; *enough* marks must show it.

    ``both`` looks at the value without its sign. ``percent`` says that people
    read and write it in per cent.
    """

    value: Decimal
    least: bool = False
    both: bool = False
    enough: int = 20
    percent: bool = True

    def passes(self, value: float) -> bool:
        """Whether *value* is inside; a value equal to the limit is."""
        limit = float(self.value)
        if self.least:
            return value >= limit
        return (abs(value) if self.both else value) <= limit


LIMITS: Mapping[str, Limit] = {
    "severity": Limit(Decimal("0.05"), both=True),
    "partner_share": Limit(Decimal("0.05"), both=True),
    "within_tolerance": Limit(Decimal("0.75"), least=True),
    "seed_hits": Limit(Decimal("0.8"), least=True, enough=5),
    "self_consistency": Limit(Decimal("0.8"), least=True, enough=5),
    "safe_excess": Limit(Decimal("0.2")),
    "pace": Limit(Decimal("0.33"), least=True, percent=False),
}


def limits_of(stored: Mapping[str, str | None]) -> dict[str, Limit]:
    """The defaults with what a round has *stored*: a limit as text, or None for no limit.

    A name that is no limit, or a text that is no number, leaves the default.
    """
    found = dict(LIMITS)
    for name, text in stored.items():
        if name not in LIMITS:
            continue
        if text is None:
            del found[name]
        elif (number := _number(text)) is not None:
            default = LIMITS[name]
            found[name] = Limit(
                number, default.least, default.both, default.enough, default.percent
            )
    return found


def outside(
    values: Mapping[str, tuple[float | None, int]], limits: Mapping[str, Limit]
) -> tuple[str, ...]:
    """The names of *limits* that *values* (a figure's value and its n) do not keep."""
    return tuple(
        name
        for name, limit in limits.items()
        if name in values and not _keeps(*values[name], limit)
    )


def _keeps(value: float | None, n: int, limit: Limit) -> bool:
    return value is None or n < limit.enough or limit.passes(value)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except (InvalidOperation, TypeError):
        return None
    return number if number.is_finite() else None


def limits_code(stored: Mapping[str, object]) -> str:
    """Return a code of the stored limits of a round, which differs for other limits."""
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()[:16]
