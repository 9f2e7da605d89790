"""Coverage: whether enough subjective answers are marked to show a total or a rate.

A figure is always computed, and is always in JSON and CSV with its n. Pages show it only if the
share of marked answers is large enough, because the answers marked first are not a random sample.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from evaluations.statistics.figure import Figure, Report
from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.rows import ModelCondition
from questions.rules.vocabulary import Part


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of *all* subjective answers of a figure are *marked*.

    ``subject`` is set if only one subject of several is meant.
    """

    marked: int
    all: int
    subject: str = ""

    def is_below(self, percent: int) -> bool:
        """Return whether less than *percent* (0 to 100) of the answers are marked."""
        return 100 * self.marked < percent * self.all


# By model and condition, then by subject, stream or ``ALL``; only coverages that are too low.
Shortfalls = Mapping[ModelCondition, Mapping[str, Coverage]]
NO_SHORTFALLS: Shortfalls = MappingProxyType({})


def coverage(figures: Mapping[str, Figure]) -> Coverage:
    """Return the coverage of one row of report ``rates``, from its figure ``unscored``."""
    unscored = figures["unscored"]
    return Coverage(unscored.n - int(unscored.value or 0), unscored.n)


def shortfalls(rates: Report, percent: int) -> Shortfalls:
    """Return the places where less than *percent* (0 to 100) of the subjective answers are marked.

    A stream is included if the coverage of all its answers is too low, or else if that of one of
    its subjects is (the coverage then names the subject with the lowest share), because a subject
    counts in a total by its points, not by its number of items.
    """
    by_condition: dict[ModelCondition, dict[str, Coverage]] = defaultdict(dict)
    for row in rates.rows:
        if row.key["part"] == Part.SUBJECTIVE:
            by_condition[row.asked][row.key["subject"]] = coverage(row.figures)
    result: dict[ModelCondition, dict[str, Coverage]] = {}
    for asked, places in by_condition.items():
        short = {place: one for place, one in places.items() if one.is_below(percent)}
        result[asked] = dict(short)
        for stream, subjects in STREAMS.items():
            own = [places[name] for name in subjects if name in places]
            low = [replace(short[name], subject=str(name)) for name in subjects if name in short]
            together = Coverage(sum(one.marked for one in own), sum(one.all for one in own))
            if together.is_below(percent):
                result[asked][stream.value] = together
            elif low:
                result[asked][stream.value] = min(low, key=lambda one: one.marked / one.all)
    return result
