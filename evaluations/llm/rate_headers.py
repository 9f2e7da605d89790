"""Read what the headers of a response say of the rate limits of the account."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Longer numbers and waits are not believed.
_DIGITS, _LONGEST_RESET = 16, 3600.0
_PLAIN = re.compile(r"[0-9]{1,10}(?:\.[0-9]{1,9})?")
_NUMBER = r"[0-9]{1,9}(?:\.[0-9]{1,9})?"
_DURATION = re.compile(
    rf"(?:(?P<h>{_NUMBER})h)?(?:(?P<m>{_NUMBER})m)?(?:(?P<s>{_NUMBER})s)?(?:(?P<ms>{_NUMBER})ms)?"
)


@dataclass(frozen=True, slots=True)
class RateReport:
    """What the headers of a response say of the limits of the account.

    ``requests`` and ``tokens`` are left until a reset, which is in so many seconds; None where the
    endpoint did not say it.
    """

    requests: int | None = None
    requests_reset: float | None = None
    tokens: int | None = None
    tokens_reset: float | None = None


def rate_report(headers: Mapping[str, str]) -> RateReport | None:
    """Read ``x-ratelimit-remaining-*`` and ``x-ratelimit-reset-*``; None if nothing is left to say.

    *headers* has lower-case names. A count without a reset cannot be used, nor the other way round.
    """
    found: dict[str, int | float] = {}
    for name in ("requests", "tokens"):
        left = headers.get(f"x-ratelimit-remaining-{name}", "").strip()
        reset = _seconds(headers.get(f"x-ratelimit-reset-{name}", "").strip())
        if left.isascii() and left.isdecimal() and len(left) < _DIGITS and reset is not None:
            found |= {name: int(left), f"{name}_reset": reset}
    return RateReport(**found) if found else None  # type: ignore[arg-type]


def _seconds(value: str) -> float | None:
    """Return the seconds in ``6m0s``, ``1h2m3.5s``, ``120ms`` or ``12.5``, at most an hour."""
    if _PLAIN.fullmatch(value):
        return min(float(value), _LONGEST_RESET)
    parts = _DURATION.fullmatch(value)
    if not value or parts is None:
        return None
    units = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    seconds = sum(float(parts[unit] or 0) * size for unit, size in units.items())
    return min(seconds, _LONGEST_RESET)
