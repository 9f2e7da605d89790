"""Coverage: whether enough subjective answers have marks for a total or a rate to be drawn.

A figure is always computed, and always stands in JSON and CSV with its n. Pages
draw it only where the share of marked answers is large enough: the first answers
that are marked are no sample of all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from evaluations.statistics.figure import Figure, Report
from evaluations.statistics.gaokao_750 import STREAMS
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of *all* subjective answers behind a figure are *marked*.

    ``subject`` names the one subject that is meant where a figure rests on several.
    """

    marked: int
    all: int
    subject: str = ""

    def is_below(self, percent: int) -> bool:
        """Whether less than *percent* (0 to 100) of the answers are marked."""
        return 100 * self.marked < percent * self.all


# By model, then by subject, stream or ``ALL``: only what is too low.
Shortfalls = Mapping[str, Mapping[str, Coverage]]
NO_SHORTFALLS: Shortfalls = MappingProxyType({})


def coverage(figures: Mapping[str, Figure]) -> Coverage:
    """The coverage of one row of report ``rates``, from its figure ``unscored``."""
    unscored = figures["unscored"]
    return Coverage(unscored.n - int(unscored.value or 0), unscored.n)


def shortfalls(rates: Report, percent: int) -> Shortfalls:
    """Where less than *percent* (0 to 100) of the subjective answers are marked.

    A stream's total is short where its answers together are, or else where those of
    any one of its subjects are (the coverage then names the subject with the lowest
    share): a subject counts in a total by its points, not by its number of items.
    """
    by_model: dict[str, dict[str, Coverage]] = defaultdict(dict)
    for row in rates.rows:
        if row.key["part"] == Part.SUBJECTIVE:
            by_model[row.key["model"]][row.key["subject"]] = coverage(row.figures)
    found: dict[str, dict[str, Coverage]] = {}
    for model, places in by_model.items():
        short = {place: one for place, one in places.items() if one.is_below(percent)}
        for stream, subjects in STREAMS.items():
            own = {name: places[name] for name in map(str, subjects) if name in places}
            if stream_short := _of_stream(own, percent):
                short[stream.value] = stream_short
        found[model] = short
    return found


def _of_stream(subjects: Mapping[str, Coverage], percent: int) -> Coverage | None:
    together = Coverage(
        sum(one.marked for one in subjects.values()), sum(one.all for one in subjects.values())
    )
    if together.is_below(percent):
        return together
    low = [replace(one, subject=name) for name, one in subjects.items() if one.is_below(percent)]
    return min(low, key=lambda one: one.marked / one.all, default=None)
