"""What reports and charts show of pairs of marks, computed for some models at a time.

The pairs of a large dataset are hundreds of thousands: those of some models are in memory together,
and only what is computed from them stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evaluations.facts.looks import SMALL_CELL
from evaluations.facts.pairs import TEACHER_PAIR, mark_pair_frame
from evaluations.facts.params import ReportParams
from evaluations.reports.rules.charts import Places, Spread, pair_places, spreads
from evaluations.reports.selectors.group_counts import parts_of
from evaluations.statistics.agreement import agreement_report
from evaluations.statistics.figure import ReportRow

if TYPE_CHECKING:
    import pandas as pd

# A place of a chart or a spread as objects of Python.
PLACE_BYTES = 200
BY_SUBJECT = ("subject",)


@dataclass(frozen=True, slots=True)
class PairSums:
    """The rows of report ``agreement``, and what charts show of the same pairs.

    ``numbers`` has the number of pairs and ``spreads`` what ``charts.spreads`` returns, both by
    kind of pair (``MarkPair.pair``); ``places`` are the marks of two teachers, ``few`` the
    responses in figures of too few pairs (``SMALL_CELL``).
    """

    rows: list[ReportRow] = field(default_factory=list)
    numbers: Counter[str] = field(default_factory=Counter)
    places: Places = field(default_factory=dict)
    spreads: dict[str, list[Spread]] = field(default_factory=lambda: defaultdict(list))
    few: set[int] = field(default_factory=set)

    @property
    def size(self) -> int:
        """About how many bytes places and spreads take."""
        places, spreads = (sum(map(len, one.values())) for one in (self.places, self.spreads))
        return PLACE_BYTES * (places + spreads)

    def judge_pair(self, marker: str) -> str:
        """Return the kind of pair of teachers and *marker*, or the judge with the most pairs."""
        wanted = f"teachers-{marker}"
        judged = {kind: n for kind, n in self.numbers.items() if kind != TEACHER_PAIR}
        if wanted in judged or not judged:
            return wanted
        return min(judged, key=lambda kind: (-judged[kind], kind))


def pair_sums(parts: Iterable[ReportParams]) -> PairSums:
    """Return what is shown of the pairs of *parts* (``parts_of``)."""
    sums = PairSums()
    for part in parts:
        pairs = mark_pair_frame(part)
        sums.rows.extend(agreement_report(pairs).rows)
        sums.few.update(_in_few(pairs))
        for kind, own in pairs.groupby("pair"):
            sums.numbers[kind] += len(own)
            if kind == TEACHER_PAIR:
                sums.places.update(pair_places(own))
            else:
                sums.spreads[kind] += spreads(own)
    return sums


def agreement_rows(params: ReportParams) -> list[ReportRow]:
    """Return the rows of report ``agreement`` of *params*."""
    parts = map(mark_pair_frame, parts_of(params))
    return [row for pairs in parts for row in agreement_report(pairs).rows]


def few_pairs(params: ReportParams, by: Collection[str] = BY_SUBJECT) -> set[int]:
    """Return the responses whose pairs of marks are few in a subject, or in another column *by*."""
    return {one for part in parts_of(params) for one in _in_few(mark_pair_frame(part), by)}


def _in_few(pairs: pd.DataFrame, by: Collection[str] = BY_SUBJECT) -> set[int]:
    cells = pairs.groupby(["model", "condition", "pair", *by])["response"]
    return set(pairs.loc[cells.transform("nunique") < SMALL_CELL, "response"].tolist())
