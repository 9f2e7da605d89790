"""Report ``repeats``: how much a model's answers change when it is asked again.

Follows the dimensions that AGIBench (Tang et al. 2023, arXiv:2309.06495) reports
over three runs: average, worst, best and majority accuracy, and repeatability
(all answers the same, one differs, all different). The definitions below are
ours where the paper leaves a choice: ties, partial credit, other numbers of runs.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import fmean

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.intervals import share
from evaluations.statistics.rows import ScoredAnswer
from evaluations.statistics.tally import ALL, Params, subject_order
from questions.rules.vocabulary import Part

ACCURACIES = ("average", "worst", "best", "majority", "majority_paper")
SHARES = ("all_same", "one_differs", "all_different")

Item = Sequence[ScoredAnswer]


def repeats(rows: Iterable[ScoredAnswer], *, params: Params | None = None) -> Report:
    """Accuracy and repeatability over repeats, per model and subject (and ``ALL``).

    Objective rows only. An item counts when every repeat of it is scored, as
    many as the model's most repeated item has; the others are counted in
    ``incomplete`` and left out. n is the number of items that count. See
    ``accuracies`` and ``repeatability``. Reasons: ``too_few_repeats`` when the
    model answered only once, ``no_data`` when no item counts, ``no_answers``
    where rows do not carry what was answered. Raises ValueError when one repeat
    of an item comes twice.
    """
    groups: dict[tuple[str, str], dict[int, list[ScoredAnswer]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        if row.part == Part.OBJECTIVE:
            groups[row.model, row.subject][row.question].append(row)
            groups[row.model, ALL][row.question].append(row)
    times = {
        model: max(map(_times, items.values()))
        for (model, subject), items in groups.items()
        if subject == ALL
    }
    report_rows = [
        ReportRow(
            {"model": model, "subject": subject}, _figures(list(items.values()), times[model])
        )
        for (model, subject), items in sorted(
            groups.items(), key=lambda kv: (kv[0][0], subject_order(kv[0][1]))
        )
    ]
    return Report("repeats", dict(params or {}), report_rows)


def _times(item: Item) -> int:
    numbers = {row.repeat for row in item}
    if len(numbers) != len(item):
        raise ValueError(f"question {item[0].question}: one repeat comes twice")
    return len(numbers)


def _figures(items: list[Item], times: int) -> dict[str, Figure]:
    complete = [
        item for item in items if len(item) == times and all(r.points is not None for r in item)
    ]
    incomplete = {"incomplete": Figure(len(items) - len(complete), len(items))}
    if times < 2 or not complete:
        reason = "too_few_repeats" if times < 2 else "no_data"
        return {name: missing(reason) for name in ACCURACIES + SHARES} | incomplete
    return accuracies(complete) | repeatability(complete) | incomplete


def accuracies(items: Sequence[Item]) -> dict[str, Figure]:
    """Points earned over full marks, 0 to 1, when of each item's repeats counts ...

    ``average``: their mean (the pooled scoring rate); ``worst``: the one with the
    fewest points, so for one-choice items those right every time; ``best``: the
    one with the most; ``majority``: the answer given most often. Where several
    answers are given most often, the item earns their mean, which is what
    drawing one of them at random earns on average; nothing read is an answer too.
    ``majority_paper`` is AGIBench's: full marks where more than half of the
    repeats are right (two of three), else nothing.
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
        "majority_paper": rate(item[0].full if _mostly_right(item) else 0.0 for item in items),
    }
    if _answers_known(items):
        return figures | {"majority": rate(map(majority_points, items))}
    return figures | {"majority": missing("no_answers", n)}


def _mostly_right(item: Item) -> bool:
    """Whether more than half of the repeats earn full marks."""
    return 2 * sum((row.points or 0.0) >= row.full for row in item) > len(item)


def majority_points(item: Item) -> float:
    """Points of the answer given most often; the mean over the answers that tie for it."""
    votes = Counter(row.answer for row in item)
    most = max(votes.values())
    return fmean(
        fmean(row.points or 0.0 for row in item if row.answer == answer)
        for answer, count in votes.items()
        if count == most
    )


def repeatability(items: Sequence[Item]) -> dict[str, Figure]:
    """Shares of items by how their R answers differ, each with Wilson's interval.

    ``all_same``: all R equal; ``one_differs``: R - 1 equal and one other;
    ``all_different``: no two equal. For R = 3 the three add up to 1; for R = 2
    ``one_differs`` is not defined (reason ``only_two_repeats``: one differs is all
    differ); for R > 3 patterns such as AABB are in none of them.
    """
    n = len(items)
    if not _answers_known(items):
        return {name: missing("no_answers", n) for name in SHARES}
    times = len(items[0])
    patterns = [sorted(Counter(row.answer for row in item).values()) for item in items]
    figures = {
        "all_same": share(sum(pattern == [times] for pattern in patterns), n),
        "one_differs": share(sum(pattern == [1, times - 1] for pattern in patterns), n),
        "all_different": share(sum(len(pattern) == times for pattern in patterns), n),
    }
    if times == 2:
        figures["one_differs"] = missing("only_two_repeats", n)
    return figures


def _answers_known(items: Sequence[Item]) -> bool:
    return all(row.answer is not None for item in items for row in item)
