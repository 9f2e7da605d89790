"""Figures and reports: a value with its n, or no value and a reason.

A figure that cannot be computed has ``value`` None and a ``reason``; it is never 0 and never NaN.
Pages, JSON and CSV show the same figures.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

from evaluations.statistics.rows import ModelCondition


@dataclass(frozen=True, slots=True)
class Figure:
    """A computed number.

    ``n`` is the number of sub-answers, items or pairs it was computed from. ``low`` and ``high``
    are the bounds of a confidence interval, or None. ``reason`` is a code such as ``no_data``,
    which pages translate.
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
        """Return the figure as JSON: value, n, low, high, reason."""
        return asdict(self)


def missing(reason: str, n: int = 0) -> Figure:
    """Return a figure without a value."""
    return Figure(value=None, n=n, reason=reason)


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One row of a report: its key (model, condition, subject ...) and its figures by name."""

    key: dict[str, str]
    figures: dict[str, Figure]

    @property
    def asked(self) -> ModelCondition:
        """The model and the condition of the key. Raises KeyError if it has none."""
        return ModelCondition(self.key["model"], self.key["condition"])

    def as_dict(self) -> dict[str, object]:
        """Return the row as JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Report:
    """A named table of figures with its parameters."""

    name: str
    params: dict[str, object]
    rows: list[ReportRow] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        """Return the report as JSON: report, params, rows."""
        return {
            "report": self.name,
            "params": dict(self.params),
            "rows": [row.as_dict() for row in self.rows],
        }
