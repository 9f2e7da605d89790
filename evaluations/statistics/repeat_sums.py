"""Compute the report ``repeats`` from what was answered to each question, by columns.

The figures are those of ``repeats.repeats``, which says what they mean; tests hold the two equal.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

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
# The answers to a question with their points, one for each response; None where not known.
Answers = tuple[tuple[str | None, float | None], ...]


class Votes(NamedTuple):
    """What the answers of one item say together: points of the worst, the best and the majority.

    ``most``: how often the most frequent answer came; ``distinct``: how many different ones there
    are. Points are NaN where no answer has any.
    """

    worst: float
    best: float
    majority: float
    most: int
    distinct: int
    is_known: bool
    is_whole: bool


def repeats_of(frame: pd.DataFrame, *, params: Params | None = None) -> Report:
    """Return the report of ``repeats`` from what was answered to each question.

    *frame* has the columns ``model, condition, subject, part, question, full_each``, ``answers``
    (``Answers``), ``n`` answers, ``scored`` of them with points, and ``points`` and ``right``, the
    sum of points and the number with full marks. A question may have several rows.
    """
    rule = frame[frame["part"] == Part.OBJECTIVE]
    if rule.empty:
        return Report("repeats", dict(params or {}), [])
    columns = _items(rule)
    rows: list[ReportRow] = []
    asked, subjects = columns["asked"], columns["subject"]
    times = np.zeros(asked.max() + 1, dtype=np.int64)
    np.maximum.at(times, asked, columns["n"])
    known = {one: place for place, one in enumerate(dict.fromkeys(subjects.tolist()))}
    of_subject = np.array([known[one] for one in subjects.tolist()])
    for whole in (False, True):
        kept = np.flatnonzero(whole | (subjects != ""))
        codes = asked[kept] if whole else asked[kept] * len(known) + of_subject[kept]
        for places in _grouped(kept, codes):
            own = {name: column[places] for name, column in columns.items()}
            about = {name: own[name][0] for name in (*ASKED, "subject")}
            about |= {"subject": ALL} if whole else {}
            rows.append(ReportRow(about, _figures(own, int(times[own["asked"][0]]))))
    rows.sort(key=lambda row: (row.asked, subject_order(row.key["subject"])))
    return Report("repeats", dict(params or {}), rows)


def _grouped(places: NDArray[Any], codes: NDArray[Any]) -> list[NDArray[Any]]:
    """Return *places* by their *codes*, each group in its order."""
    if not len(places):
        return []
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order])) + 1
    return np.split(places[order], starts)


def _items(rule: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """Return columns by item: what a model answered to a question in all its repeats."""
    asked = rule.groupby(ASKED, sort=False).ngroup().to_numpy()
    question = rule["question"].to_numpy()
    _keys, first, item = np.unique(
        asked * (question.max() + 1) + question, return_index=True, return_inverse=True
    )
    names = (*ASKED, "subject", "full_each")
    items = {name: rule[name].to_numpy()[first] for name in names} | {"asked": asked[first]}
    items["full"] = items.pop("full_each")
    for name in ("n", "scored", "points", "right"):
        column = rule[name].to_numpy()
        items[name] = np.bincount(item, column).astype(column.dtype)
    kinds: dict[Answers, int] = {}
    answers = _of_items(rule["answers"].to_list(), item, len(first))
    kind = np.array([kinds.setdefault(one, len(kinds)) for one in answers])
    votes = zip(*map(votes_of, kinds), strict=True)
    return items | {
        name: np.array(column)[kind] for name, column in zip(Votes._fields, votes, strict=True)
    }


def _of_items(answers: list[Answers], item: NDArray[Any], items: int) -> list[Answers]:
    """Return the answers of each of the *items*, of which each row of *answers* has some."""
    if len(answers) == items:
        return [answers[row] for row in np.argsort(item).tolist()]
    found: list[Answers] = [()] * items
    for place, own in zip(item.tolist(), answers, strict=True):
        found[place] += own
    return found


def votes_of(answers: Answers) -> Votes:
    """Return what the *answers* to one item (at least one) say together."""
    scored = [points for _answer, points in answers if points is not None]
    votes = Counter(answer for answer, _points in answers)
    most = max(votes.values())
    tied = [
        sum(points or 0.0 for one, points in answers if one == answer) / most
        for answer, n in votes.items()
        if n == most
    ]
    return Votes(
        worst=min(scored, default=np.nan),
        best=max(scored, default=np.nan),
        majority=sum(tied) / len(tied),
        most=most,
        distinct=len(votes),
        is_known=None not in votes,
        is_whole=all(map(_is_whole, votes)),
    )


def _is_whole(answer: str | None) -> bool:
    """Return whether every sub-answer was read."""
    return bool(answer) and "-" not in str(answer).split(" ")


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
