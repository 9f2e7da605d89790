"""Chart: the kind and the data of one chart that charts.js draws."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chart:
    """Kind and data of one chart, whether it shows anything, and the models that it cannot show."""

    kind: str
    data: dict[str, object]
    empty: bool
    left_out: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
