"""Compute the report ``repeats`` from counts of equal answers, by columns of whole datasets.

The figures are those of ``repeats.repeats``, which says what they mean; tests hold the two equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluations.statistics.figure import Figure, Report, ReportRow, missing
from evaluations.statistics.intervals import share
from evaluations.statistics.repeats import ACCURACIES, SHARES
from evaluations.statistics.tally import ALL, Params, subject_order
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    import pandas as pd

ASKED = ["model", "condition"]


def repeats_of(frame: pd.DataFrame, *, params: Params | None = None) -> Report:
    """Return the report of ``repeats`` from a row for each item and answer to it.

    *frame* has the columns ``model, condition, subject, part, question, full_each``, ``answer``
    (None where it is not known), ``n`` answers, ``scored`` of them with points, and ``points`` and
    ``right``, the sum of points and the number with full marks. The answers of a row are equal and
    have equal points.
    """
    rule = frame[frame["part"] == Part.OBJECTIVE]
    if rule.empty:
        return Report("repeats", dict(params or {}), [])
    items = _items(rule)
    columns = {name: items[name].to_numpy() for name in items.columns}
    rows: list[ReportRow] = []
    times = items.groupby("asked")["n"].max().to_dict()
    for whole in (False, True):
        kept = np.flatnonzero(whole | (columns["subject"] != ""))
        keys = ["asked"] if whole else ["asked", "subject"]
        codes = items.iloc[kept].groupby(keys, sort=False).ngroup().to_numpy()
        order = kept[np.argsort(codes, kind="stable")]
        for places in np.split(order, np.cumsum(np.bincount(codes))[:-1]):
            if not len(places):
                continue
            own = {name: column[places] for name, column in columns.items()}
            about = {name: own[name][0] for name in (*ASKED, "subject")}
            about |= {"subject": ALL} if whole else {}
            rows.append(ReportRow(about, _figures(own, int(times[own["asked"][0]]))))
    rows.sort(key=lambda row: (row.asked, subject_order(row.key["subject"])))
    return Report("repeats", dict(params or {}), rows)


def _items(rule: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each item: what a model answered to a question in all its repeats."""
    asked = rule.groupby(ASKED, sort=False).ngroup().to_numpy()
    question = rule["question"].to_numpy()
    _keys, first, item = np.unique(
        asked * (question.max() + 1) + question, return_index=True, return_inverse=True
    )
    of = rule[[*ASKED, "subject", "question", "full_each"]].iloc[first]
    items = of.rename(columns={"full_each": "full"}).reset_index(drop=True)
    items["asked"] = asked[first]
    sums = {name: rule[name].to_numpy() for name in ("n", "scored", "points", "right")}
    for name, column in sums.items():
        items[name] = np.bincount(item, column).astype(column.dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(sums["scored"] > 0, sums["points"] / sums["scored"], np.nan)
    order = np.argsort(item, kind="stable")
    starts = np.searchsorted(item[order], np.arange(len(items)))
    items["worst"] = np.fmin.reduceat(each[order], starts)
    items["best"] = np.fmax.reduceat(each[order], starts)
    answers, known = rule["answer"].fillna("").factorize()
    is_whole = np.array([_is_whole(one) for one in known], dtype=bool)[answers]
    items["is_known"] = np.bincount(item, rule["answer"].isna()) == 0
    items["is_whole"] = np.bincount(item, ~is_whole) == 0
    return items.assign(**_votes(item * len(known) + answers, len(known), sums))


def _votes(
    keys: NDArray[Any], answers: int, sums: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Return by item how often its most frequent answer came, how many there are, their points.

    *keys* are the number of the item times the number of *answers*, plus that of the answer.
    """
    votes, place = np.unique(keys, return_inverse=True)
    item = votes // answers
    n, points = (np.bincount(place, sums[name]) for name in ("n", "points"))
    starts = np.searchsorted(item, np.arange(item[-1] + 1))
    most = np.maximum.reduceat(n, starts)
    tied = n == most[item]
    of_answer = np.bincount(item[tied], points[tied] / n[tied])
    return {
        "most": most,
        "distinct": np.bincount(item),
        "majority": of_answer / np.bincount(item[tied]),
    }


def _is_whole(answer: str) -> bool:
    """Return whether every sub-answer was read."""
    return bool(answer) and "-" not in answer.split(" ")


def _figures(items: dict[str, NDArray[Any]], times: int) -> dict[str, Figure]:
    """Return the figures of one group of items, of which the most repeated has *times* answers."""
    complete = (items["n"] == times) & (items["scored"] == times)
    n, of = int(complete.sum()), len(complete)
    incomplete = Figure(of - n, of)
    if times < 2 or not n:
        reason = "too_few_repeats" if times < 2 else "no_data"
        return {name: missing(reason) for name in ACCURACIES + SHARES} | {"incomplete": incomplete}
    columns = {name: column[complete] for name, column in items.items()}
    is_known = bool(columns["is_known"].all())
    figures = _accuracies(columns, times, is_known=is_known)
    return figures | _shares(columns, times, is_known=is_known) | {"incomplete": incomplete}


def _accuracies(
    columns: dict[str, NDArray[Any]], times: int, *, is_known: bool
) -> dict[str, Figure]:
    n, full = len(columns["full"]), float(columns["full"].sum())
    if full <= 0:
        return {name: missing("no_data", n) for name in ACCURACIES}
    most_right = np.where(2 * columns["right"] > times, columns["full"], 0.0)
    sums = {
        "average": columns["points"] / times,
        "worst": columns["worst"],
        "best": columns["best"],
        "majority_paper": most_right,
        "majority": columns["majority"],
    }
    figures = {name: Figure(float(points.sum()) / full, n) for name, points in sums.items()}
    return figures if is_known else figures | {"majority": missing("no_answers", n)}


def _shares(columns: dict[str, NDArray[Any]], times: int, *, is_known: bool) -> dict[str, Figure]:
    n = len(columns["full"])
    if not is_known:
        return {name: missing("no_answers", n) for name in SHARES}
    most, distinct, whole = columns["most"], columns["distinct"], columns["is_whole"]
    answered, same = int(whole.sum()), int((whole & (distinct == 1)).sum())
    one_differs = (distinct == 2) & (most == times - 1)
    return {
        "all_same": share(int((distinct == 1).sum()), n),
        "one_differs": (
            missing("only_two_repeats", n) if times == 2 else share(int(one_differs.sum()), n)
        ),
        "all_different": share(int((distinct == times).sum()), n),
        "consistency": share(same, answered) if answered else missing("no_answered"),
    }
