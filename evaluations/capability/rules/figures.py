"""What reviewers say of wrong answers, as figures: shares of 1, weaknesses, agreement.

The unit is the answer, not the judgement. Two people who judge one answer do not
make two independent cases, so an answer counts once, by the mean of what they gave.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluations.statistics.figure import Figure
from evaluations.statistics.intervals import share
from questions.rules.label_agreement import LabelAgreement, label_agreement

NOT_APPLICABLE = "na"


@dataclass(frozen=True, slots=True)
class Judged:
    """What one reviewer said of one answer, as it counts now.

    ``values`` has an entry for each dimension that the task asks for: 1, 0, or
    None where the reviewer says that it does not apply.
    """

    item: int
    task: str
    reviewer: int
    values: Mapping[str, int | None]
    weaknesses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReviewerPair:
    """Cohen's kappa of two reviewers by dimension over the ``items`` that both judged."""

    first: int
    second: int
    items: int
    dimensions: Mapping[str, LabelAgreement[str]]


@dataclass(frozen=True, slots=True)
class TimesNamed:
    """On how many answers a weakness was named by somebody, and by two reviewers."""

    answers: int
    both: int


def share_of_ones(judged: Iterable[Judged], dimension: str) -> Figure:
    """The share of answers on which the model does well on *dimension*, 0 to 1.

    n counts the answers on which somebody gave 1 or 0; one that was judged twice
    counts as the mean of both. Wilson's interval at 95 % takes the sum of the
    means for the number of successes: with halves among them it is a little wide,
    never narrow. Without an answer there is no value, with reason ``no_data``.
    """
    given: dict[int, list[int]] = defaultdict(list)
    for one in judged:
        value = one.values.get(dimension)
        if value is not None:
            given[one.item].append(value)
    means = [sum(values) / len(values) for values in given.values()]
    return share(math.fsum(means), len(means))


def weaknesses_named(judged: Iterable[Judged]) -> dict[str, TimesNamed]:
    """By weakness: the answers on which one reviewer named it at least, and on which two did."""
    counts: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for one in judged:
        for weakness in one.weaknesses:
            counts[weakness][one.item] += 1
    return {
        weakness: TimesNamed(len(items), sum(times > 1 for times in items.values()))
        for weakness, items in counts.items()
    }


def reviewer_pairs(judged: Iterable[Judged], dimensions: Sequence[str]) -> list[ReviewerPair]:
    """Every two reviewers who judged some answers both, the one with the lower key first.

    1, 0 and "does not apply" are three names; a pair is an answer whose task asks
    for the dimension.
    """
    pairs: dict[tuple[int, int], list[tuple[Judged, Judged]]] = defaultdict(list)
    for first, second in both_judged(judged):
        pairs[first.reviewer, second.reviewer].append((first, second))
    return [
        ReviewerPair(*people, len(rows), {one: _agreement(rows, one) for one in dimensions})
        for people, rows in sorted(pairs.items())
    ]


def both_judged(judged: Iterable[Judged]) -> list[tuple[Judged, Judged]]:
    """The two judgements of each answer that has two, by answer; the lower reviewer first."""
    by_item: dict[int, list[Judged]] = defaultdict(list)
    for one in judged:
        by_item[one.item].append(one)
    twice = sorted((item, rows) for item, rows in by_item.items() if len(rows) == 2)
    pairs = [sorted(rows, key=lambda one: one.reviewer) for _item, rows in twice]
    return [(first, second) for first, second in pairs]


def differing(first: Judged, second: Judged) -> tuple[str, ...]:
    """The dimensions on which two judgements of one answer differ."""
    return tuple(name for name, value in first.values.items() if second.values.get(name) != value)


def _agreement(rows: Iterable[tuple[Judged, Judged]], dimension: str) -> LabelAgreement[str]:
    return label_agreement(
        [
            (_name(one.values[dimension]), _name(other.values[dimension]))
            for one, other in rows
            if dimension in one.values and dimension in other.values
        ]
    )


def _name(value: int | None) -> str:
    return NOT_APPLICABLE if value is None else str(value)
