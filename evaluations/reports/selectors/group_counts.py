"""Count what the groups of answers hold, and split a report into parts of some models each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Sum

from evaluations.facts.params import ReportParams
from evaluations.models import Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.selectors.fact_query import COUNTS
from evaluations.statistics.outcomes import LedgerOutcome

if TYPE_CHECKING:
    import pandas as pd


def about_groups(groups: pd.DataFrame) -> dict[str, object]:
    """Return the numbers of items and of answers without points, for the parameters of reports."""
    about = About()
    about.add(groups)
    return about.numbers()


class About:
    """Counts the items and the answers without points of groups that come in parts."""

    def __init__(self) -> None:
        self.items: set[int] = set()
        self.left_out: dict[int, str] = {}
        self.excluded = 0
        self.unscored: Counter[str] = Counter()

    def add(self, groups: pd.DataFrame) -> None:
        """Count *groups*."""
        excluded = (groups["outcome"] == LedgerOutcome.EXCLUDED).to_numpy()
        questions, reasons = groups["question"].to_numpy(), groups["reason"].to_numpy()
        self.items.update(np.unique(questions).tolist())
        self.left_out |= dict(zip(questions[excluded], reasons[excluded], strict=True))
        n = groups["n"].to_numpy()
        self.excluded += int(n[excluded].sum())
        without = np.where(excluded, 0, n - groups["scored"].to_numpy())
        for reason, number in zip(reasons[without > 0], without[without > 0], strict=True):
            self.unscored[reason] += int(number)

    def numbers(self) -> dict[str, object]:
        """Return what was counted."""
        return {
            "items": len(self.items),
            "left_out": dict(sorted(Counter(self.left_out.values()).items())),
            "excluded": self.excluded,
            "unscored": dict(sorted(self.unscored.items())),
        }


# Answers whose sums are in memory at the same time, if no model has more.
MOST_ANSWERS = 30_000


def parts_of(params: ReportParams) -> list[ReportParams]:
    """Return *params* for some models at a time, in the order of their names.

    A report that has its rows by model is computed part by part, so that its memory does not grow
    with the number of models. A model is never in two parts.
    """
    runs = Run.objects.filter(params.of_runs(), purpose=RunPurpose.ANSWER)
    sizes = dict(runs.values_list("language_model__name").annotate(n=Sum("counts__responses")))
    parts: list[list[str]] = []
    size = 0
    for model in sorted(sizes):
        size += sizes[model] or 0
        if not parts or size > MOST_ANSWERS:
            parts.append([])
            size = sizes[model] or 0
        parts[-1].append(model)
    if len(parts) < 2:
        return [params]
    return [replace(params, models=tuple(models)) for models in parts]


def counted(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the groups of items that count."""
    return groups[groups["outcome"] != LedgerOutcome.EXCLUDED]


def task_outcomes(groups: pd.DataFrame) -> Iterator[tuple[str, str, str, Counter[str]]]:
    """Yield model, condition and task with the numbers of answers by outcome.

    *groups* have outcomes (``Detail.LEDGER`` or more).
    """
    keys = ["model", "condition", "task"]
    grouped = groups.groupby(keys, sort=True)
    asked = list(grouped.groups)
    codes = grouped.ngroup().to_numpy()
    outcome = groups["outcome"].to_numpy()
    n, scored, right, zero = (groups[name].to_numpy() for name in COUNTS)
    is_mark = outcome == ""  # it follows from the points
    numbers = {
        "wrong": zero,
        "correct": right,
        "partial": scored - right - zero,
        "not_scored": n - scored,
    }
    counts: list[Counter[str]] = [Counter() for _one in asked]
    for name in sorted({*outcome, *numbers} - {""}):
        of_mark = np.where(is_mark, numbers.get(name, 0), 0)
        sums = np.bincount(codes, np.where(outcome == name, n, of_mark), len(asked))
        for place in np.flatnonzero(sums).tolist():
            counts[place][name] = int(sums[place])
    for key, by_outcome in zip(asked, counts, strict=True):
        yield *key, by_outcome
