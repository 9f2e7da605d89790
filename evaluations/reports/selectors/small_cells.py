"""Find the marked responses that a figure of a report tells about one by one."""

from __future__ import annotations

from collections.abc import Collection, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from evaluations.facts.judged_marks import few_judged
from evaluations.facts.looks import BATCH, SMALL_CELL
from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.models import Response
from evaluations.reports.selectors.cuts import cut_keys, up_to
from evaluations.reports.selectors.export_tables import SUMMARIES
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.frames import frame_of
from evaluations.reports.selectors.group_counts import counted, parts_of
from evaluations.reports.selectors.pair_sums import few_pairs
from evaluations.reports.selectors.paper_tables import NAME as PAPER_TABLES
from evaluations.reports.selectors.reports import answers_behind, retried_responses
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
    **dict.fromkeys(("ledger", *SUMMARIES), (("task",),)),
    "paper-tables": (("task",), ("year", "subject")),
    "trend": (("year", "subject"),),
    "leakage": (("is_newest",),),
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
    items, few = set[Item](), set[int]()
    for one in answers_behind(name, params):
        if name == PAPER_TABLES:
            one = replace(one, models=())  # they may be pairs
            few |= few_pairs(one, by=()) if one.is_judge else set()
        # The newest year of ``leakage`` is that of all models.
        for part in [one] if name == "leakage" else parts_of(one):
            groups = counted(answer_groups(part))
            frame = frame_of(groups, part)
            if name == "leakage":
                frame = up_to(frame, params.year)
            items |= few_marked(frame, groups, cells)
    return few | responses_to(items)


def _few_retried(params: ReportParams) -> set[int]:
    """Return the subjective responses with marks that the figures of those called as often tell."""
    of_one_marker = replace(params, marker=params.marker or TEACHERS)
    rows = counted(answer_groups(of_one_marker, Detail.RESPONSES))
    rows = rows[(rows["part"] == Part.SUBJECTIVE) & (rows["scored"] > 0)]
    again = rows["response"].isin(retried_responses(params.dataset))
    rows = rows.assign(again=again, n=rows["scored"], full=rows["full_each"])
    each = _tells_each(rows, ["model", "condition", "again"])
    return set(rows.loc[each, "response"].tolist())


def few_marked(frame: pd.DataFrame, groups: pd.DataFrame, cells: Collection[Keys]) -> set[Item]:
    """Return the subjective items with marks that the figure of one of *cells* tells.

    *frame* is the ``question_frame`` that the figures are computed from, of *groups*.
    """
    frame = frame[(frame["part"] == Part.SUBJECTIVE) & (frame["n"] > 0)]
    if frame.empty:
        return set()
    asked = ["model", "condition"]
    small = frame["n"] < 0
    for keys in cells:
        texts = {f"cut {key}": key_text(frame, key) for key in keys}
        small |= _tells_each(frame.assign(**texts), [*asked, *texts])
    found = frame.loc[small, [*asked, "question"]].merge(
        groups.loc[groups["scored"] > 0, [*asked, "question", "run"]].drop_duplicates(),
        on=[*asked, "question"],
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
