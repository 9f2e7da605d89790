"""What every benchmark hands back: a figure beside a floor that was measured in the same run.

Each module ``bench.bench_*`` is run alone by ``python -m``, takes ``--quick`` and
``--json``, and prints one ``Measured`` a line; ``python -m bench`` runs them all
and makes one table of it. Seconds say little about another machine; ratios do.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil

COLUMNS = f"{'benchmark':<36}{'gradeapp':>20}{'floor':>20}{'ratio':>8}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table. ``ratio`` says how many times the floor: 1 is perfect, 2 is half."""

    name: str
    figure: float
    unit: str
    floor: float
    ratio: float
    detail: str = ""

    @classmethod
    def time(
        cls, name: str, figure: float, floor: float, *, unit: str = "s", detail: str = ""
    ) -> Measured:
        """A duration: shorter is better."""
        return cls(name, figure, unit, floor, figure / floor, detail)

    @classmethod
    def rate(
        cls, name: str, figure: float, floor: float, *, unit: str, detail: str = ""
    ) -> Measured:
        """So many a second: more is better."""
        return cls(name, figure, unit, floor, floor / figure, detail)

    @classmethod
    def from_json(cls, line: str) -> Measured:
        """The figure that a benchmark printed with ``--json``."""
        return cls(**json.loads(line))

    def as_json(self) -> str:
        """One line for programs."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def as_row(self) -> str:
        """A line under ``COLUMNS``, and the detail below it."""
        figure, floor = f"{self.figure:,.4g} {self.unit}", f"{self.floor:,.4g} {self.unit}"
        row = f"{self.name:<36}{figure:>20}{floor:>20}{self.ratio:>8.2f}"
        return f"{row}\n    {self.detail}" if self.detail else row


def arguments(doc: str | None, *, quick: str) -> ArgumentParser:
    """The parser that all benchmarks share; *quick* says what ``--quick`` leaves out."""
    parser = ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def show(measured: Iterable[Measured], *, as_json: bool) -> None:
    """Print the figures: a table for people, a JSON object a line for programs."""
    if not as_json:
        print(COLUMNS)
    for one in measured:
        print(one.as_json() if as_json else one.as_row(), flush=True)


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of *values* that at least *percent* of them do not exceed (nearest rank)."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]
