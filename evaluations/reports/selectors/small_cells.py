"""Find the marked responses that a figure of a report tells about one by one."""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluations.facts.judged_marks import few_judged
from evaluations.facts.looks import BATCH, SMALL_CELL
from evaluations.facts.params import TEACHERS, ReportParams, markers_of
from evaluations.models import Response
from evaluations.reports.selectors.cuts import cut_keys
from evaluations.reports.selectors.export_tables import SUMMARIES
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.frames import frame_of
from evaluations.reports.selectors.group_counts import counted, parts_of
from evaluations.reports.selectors.pair_sums import few_pairs
from evaluations.reports.selectors.reports import retried_responses
from evaluations.statistics.cuts import key_text
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    import pandas as pd

# A run and a question of it.
Item = tuple[int, int]
# By what the figures of a report are told apart, beside model and condition. Each of several sets
# of keys is a table of its own.
Keys = tuple[str, ...]
OF_OVERVIEW: tuple[Keys, ...] = (("subject",), ("task",))
CELLS: dict[str, tuple[Keys, ...]] = {
    **dict.fromkeys(("rates", "converted"), (("subject",),)),
    **dict.fromkeys(("ledger", "paper-tables", *SUMMARIES), (("task",),)),
    "trend": (("year", "subject"),),
    "leakage": (("year",),),
}
OF_KEYS = ("cuts", "settings", "gains")
# Sums of the same points differ by less.
ROUNDING = 1e-6


def in_few(name: str, params: ReportParams) -> set[int]:
    """Return the subjective responses whose mark a figure tells: it is about few or is an extreme.

    *name* is that of a report or a summary, of *params* (valid).
    """
    if name == "agreement":
        return few_pairs(params)
    if name == "calibration":
        return few_judged(params)
    if name == "retries":
        return _few_retried(params)
    cells = (cut_keys(params.by),) if name in OF_KEYS and params.by else CELLS.get(name, ())
    if not cells:
        return set()
    markers = [params.marker] if params.marker else [TEACHERS]
    if name in ("converted", "paper-tables") and not params.marker:
        markers = markers_of(params.dataset) or markers
    items: set[Item] = set()
    # The models of a paper may be pairs.
    for part in parts_of(replace(params, models=()) if name == "paper-tables" else params):
        for one in (replace(part, marker=marker) for marker in markers):
            items |= few_marked(counted(answer_groups(one)), one, cells)
    return responses_to(items)


def _few_retried(params: ReportParams) -> set[int]:
    """Return the subjective responses with marks that the figures of those called as often tell."""
    of_one_marker = replace(params, marker=params.marker or TEACHERS)
    rows = counted(answer_groups(of_one_marker, Detail.RESPONSES))
    rows = rows[(rows["part"] == Part.SUBJECTIVE) & (rows["scored"] > 0)]
    again = rows["response"].isin(retried_responses(params.dataset))
    rows = rows.assign(again=again, n=rows["scored"], full=rows["full_each"])
    each = _tells_each(rows, ["model", "condition", "again"])
    return set(rows.loc[each, "response"].tolist())


def few_marked(groups: pd.DataFrame, params: ReportParams, cells: Collection[Keys]) -> set[Item]:
    """Return the subjective items with marks that the figure of one of *cells* tells.

    *groups* are the ``answer_groups`` that count.
    """
    groups = groups[(groups["part"] == Part.SUBJECTIVE) & (groups["scored"] > 0)]
    if not len(groups):
        return set()
    frame = frame_of(groups, params)
    asked = ["model", "condition"]
    small = frame["n"] < 0
    for keys in cells:
        texts = {f"cut {key}": key_text(frame, key) for key in keys}
        small |= _tells_each(frame.assign(**texts), [*asked, *texts])
    found = frame.loc[small, [*asked, "question"]].merge(
        groups[[*asked, "question", "run"]].drop_duplicates(), on=[*asked, "question"]
    )
    return set(zip(found["run"].tolist(), found["question"].tolist(), strict=True))


def _tells_each(rows: pd.DataFrame, keys: list[str]) -> pd.Series[bool]:
    """Return for each row whether the figure of its cell, by *keys*, tells the mark of each answer.

    It does if it is about fewer than ``SMALL_CELL``, and if all got nothing or all full marks,
    however many they are.
    """
    cells = rows.groupby(keys)
    n, points, full = (cells[name].transform("sum") for name in ("n", "points", "full"))
    each: pd.Series[bool] = (n < SMALL_CELL) | (points <= 0) | (points >= full - ROUNDING)
    return each


def responses_to(items: Set[Item]) -> set[int]:
    """Return the responses of *items*; a query for each thousand questions."""
    runs, questions = ({item[place] for item in items} for place in (0, 1))
    ordered, responses = sorted(questions), set[int]()
    for start in range(0, len(ordered), BATCH):
        some = ordered[start : start + BATCH]
        found = Response.objects.filter(run__in=runs, question__in=some).order_by()
        rows = found.values_list("pk", "run", "question")
        responses.update(pk for pk, *item in rows if tuple(item) in items)
    return responses
