"""Figure: a value that always carries its n, and a reason where it has no value.

A figure that cannot be computed has ``value`` None and a ``reason``; it is
never 0 and never NaN. Page, JSON and CSV are three renderings of the same
figures.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Figure:
    """A computed number with what it rests on.

    ``n`` counts what the value was computed from (sub-answers, items or pairs,
    as the report says). ``low`` and ``high`` bound a confidence interval where
    one is given. ``reason`` is a stable code such as ``no_data``; pages
    translate it.
    """

    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError("a figure without data has a reason, not NaN or infinity")
        if self.value is None and not self.reason:
            raise ValueError("a figure without a value needs a reason")

    def as_dict(self) -> dict[str, object]:
        """The JSON of INTERFACE: value, n, low, high, reason."""
        return {
            "value": self.value,
            "n": self.n,
            "low": self.low,
            "high": self.high,
            "reason": self.reason,
        }


def missing(reason: str, n: int = 0) -> Figure:
    """A figure that cannot be computed, with the reason why."""
    return Figure(value=None, n=n, reason=reason)


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One line of a report: its key (model, subject, part ...) and its figures by name."""

    key: dict[str, str]
    figures: dict[str, Figure]

    def as_dict(self) -> dict[str, object]:
        """The JSON of one row."""
        figures = {name: figure.as_dict() for name, figure in self.figures.items()}
        return {"key": dict(self.key), "figures": figures}


@dataclass(frozen=True, slots=True)
class Report:
    """A named table of figures with the parameters that made it."""

    name: str
    params: dict[str, object]
    rows: list[ReportRow] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        """The JSON of INTERFACE: report, params, rows."""
        return {
            "report": self.name,
            "params": dict(self.params),
            "rows": [row.as_dict() for row in self.rows],
        }
