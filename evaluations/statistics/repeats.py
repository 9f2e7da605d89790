"""Compute the report ``repeats``: how much the answers of a model differ between
repeats of one condition.

The figures are those that AGIBench (Tang et al. 2023, arXiv:2309.06495) reports over three runs:
average, worst, best and majority accuracy, and repeatability (all answers the same, one differs,
all different). The definitions of ties, partial credit and other numbers of runs are ours.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.intervals import share
from evaluations.statistics.rows import ModelCondition, ScoredAnswer
from evaluations.statistics.tally import ALL, Params, subject_order
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    pass

ACCURACIES = ("average", "worst", "best", "majority", "majority_paper")
SHARES = ("all_same", "one_differs", "all_different", "consistency")

Item = Sequence[ScoredAnswer]


def repeats(rows: Iterable[ScoredAnswer], *, params: Params | None = None) -> Report:
    """Return accuracy and repeatability over repeats, per model, condition, subject (and ``ALL``).

    Objective rows only. An item is complete if it has as many scored repeats as the most repeated
    item of the model and condition; the others are left out and counted in ``incomplete``. n is the
    number of complete items. See ``accuracies`` and ``repeatability``. Reasons:
    ``too_few_repeats`` if the model answered only once, ``no_data`` without complete items,
    ``no_answers`` if rows do not contain the answers. Raises ValueError if a repeat of an item
    occurs twice.
    """
    groups: dict[tuple[ModelCondition, str], dict[int, list[ScoredAnswer]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        if row.part == Part.OBJECTIVE:
            if row.subject:
                groups[row.asked, row.subject][row.question].append(row)
            groups[row.asked, ALL][row.question].append(row)
    report_rows = []
    for asked, subject in sorted(groups, key=lambda key: (key[0], subject_order(key[1]))):
        for question, item in groups[asked, subject].items():
            if len({row.repeat for row in item}) != len(item):
                raise ValueError(f"question {question}: one repeat comes twice")
        items = list(groups[asked, subject].values())
        times = max(map(len, groups[asked, ALL].values()))
        complete = [
            item for item in items if len(item) == times and all(r.points is not None for r in item)
        ]
        if times < 2 or not complete:
            reason = "too_few_repeats" if times < 2 else "no_data"
            figures = {name: missing(reason) for name in ACCURACIES + SHARES}
        else:
            figures = accuracies(complete) | repeatability(complete)
        figures["incomplete"] = Figure(len(items) - len(complete), len(items))
        report_rows.append(ReportRow(asked._asdict() | {"subject": subject}, figures))
    return Report("repeats", dict(params or {}), report_rows)


def accuracies(items: Sequence[Item]) -> dict[str, Figure]:
    """Return points over full marks (0 to 1), with five ways to combine the repeats of an item.

    ``average``: their mean (the pooled scoring rate); ``worst``: the one with the fewest points;
    ``best``: the one with the most; ``majority``: the answer given most often, or the mean over the
    answers that tie for it (an empty answer is an answer too). ``majority_paper`` is AGIBench's:
    full marks if more than half of the repeats have full marks, else 0.
    """
    full = math.fsum(item[0].full for item in items)
    n = len(items)
    if full <= 0:
        return {name: missing("no_data", n) for name in ACCURACIES}

    def rate(points: Iterable[float]) -> Figure:
        return Figure(math.fsum(points) / full, n)

    earned = [[row.points or 0.0 for row in item] for item in items]
    figures = {
        "average": rate(map(fmean, earned)),
        "worst": rate(map(min, earned)),
        "best": rate(map(max, earned)),
        "majority_paper": rate(
            item[0].full
            if 2 * sum((row.points or 0.0) >= row.full for row in item) > len(item)
            else 0.0
            for item in items
        ),
    }
    if _answers_known(items):
        return figures | {"majority": rate(map(majority_points, items))}
    return figures | {"majority": missing("no_answers", n)}


def majority_points(item: Item) -> float:
    """Return the points of the answer given most often, or the mean over the answers that tie."""
    votes = Counter(row.answer for row in item)
    most = max(votes.values())
    return fmean(
        fmean(row.points or 0.0 for row in item if row.answer == answer)
        for answer, count in votes.items()
        if count == most
    )


def repeatability(items: Sequence[Item]) -> dict[str, Figure]:
    """Return the shares of items by how their R answers differ, each with Wilson's interval.

    ``all_same``: all R equal; ``one_differs``: R - 1 equal and one other; ``all_different``: no two
    equal. For R = 3 the three add up to 1; for R = 2 ``one_differs`` has the reason
    ``only_two_repeats``, because it would equal ``all_different``; for R > 3 patterns such as AABB
    are in none of them. ``consistency`` is the share of the same content chosen in all repeats,
    among the items whose repeats all have an answer; its n is the number of these items. Where the
    options stood in another order in each repeat, it tells a choice of content from a habit of
    choosing a letter.
    """
    n = len(items)
    if not _answers_known(items):
        return {name: missing("no_answers", n) for name in SHARES}
    answered = [item for item in items if all(map(_is_whole, item))]
    same = sum(len({row.answer for row in item}) == 1 for item in answered)
    times = len(items[0])
    patterns = [sorted(Counter(row.answer for row in item).values()) for item in items]
    figures = {
        "all_same": share(sum(pattern == [times] for pattern in patterns), n),
        "one_differs": share(sum(pattern == [1, times - 1] for pattern in patterns), n),
        "all_different": share(sum(len(pattern) == times for pattern in patterns), n),
        "consistency": share(same, len(answered)) if answered else missing("no_answered"),
    }
    if times == 2:
        figures["one_differs"] = missing("only_two_repeats", n)
    return figures


def _is_whole(row: ScoredAnswer) -> bool:
    """Whether every sub-answer of *row* was read."""
    return bool(row.answer) and "-" not in str(row.answer).split(" ")


def _answers_known(items: Sequence[Item]) -> bool:
    return all(row.answer is not None for item in items for row in item)
