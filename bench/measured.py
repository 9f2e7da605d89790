"""The result of a benchmark: a figure and a floor that was measured in the same run.

Each module ``bench.bench_*`` can be run by ``python -m``, takes ``--quick`` and
``--json``, and prints one ``Measured`` per line; ``python -m bench`` runs all of them
and prints one table. Compare ratios between machines, not seconds.
"""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil

COLUMNS = f"{'benchmark':<36}{'gradeapp':>20}{'floor':>20}{'ratio':>8}"


@dataclass(frozen=True, slots=True)
class Measured:
    """One line of the table. ``ratio`` is the multiple of the floor: 1 is the best, 2 is half."""

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
        """Return the result for a duration: shorter is better."""
        return cls(name, figure, unit, floor, figure / floor, detail)

    @classmethod
    def rate(
        cls, name: str, figure: float, floor: float, *, unit: str, detail: str = ""
    ) -> Measured:
        """Return the result for a number per second: more is better."""
        return cls(name, figure, unit, floor, floor / figure, detail)

    @classmethod
    def from_json(cls, line: str) -> Measured:
        """Return the result that a benchmark printed with ``--json``."""
        return cls(**json.loads(line))

    def as_json(self) -> str:
        """Return the result as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False)

    def as_row(self) -> str:
        """Return a row of the table with the columns ``COLUMNS``, and the detail below it."""
        figure, floor = f"{self.figure:,.4g} {self.unit}", f"{self.floor:,.4g} {self.unit}"
        row = f"{self.name:<36}{figure:>20}{floor:>20}{self.ratio:>8.2f}"
        return f"{row}\n    {self.detail}" if self.detail else row


def arguments(doc: str | None, *, quick: str) -> ArgumentParser:
    """Return the parser of every benchmark; *quick* is the help text of ``--quick``."""
    parser = ArgumentParser(description=(doc or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    return parser


def show(measured: Iterable[Measured], *, as_json: bool, heading: bool = True) -> None:
    """Print the results as a table (with its *heading*), or as one JSON object per line."""
    if heading and not as_json:
        print(COLUMNS)
    for one in measured:
        print(one.as_json() if as_json else one.as_row(), flush=True)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the percentile of *values* by nearest rank."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def seconds_of(work: Callable[[], object]) -> float:
    """Return the wall time of one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
