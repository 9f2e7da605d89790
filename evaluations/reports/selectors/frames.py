"""Read the answers to a dataset as pandas frames: sums by question, and single repeats.

Excluded items are in no frame. Points are floats, in points of the question. pandas is imported
where it is used: it takes half a second to load, and most processes never need it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.reports.selectors.bank_columns import of_bank
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.group_counts import counted
from evaluations.reports.selectors.scored_answers import KEY
from questions.models import HumanRate, Question
from questions.rules.four_tuple import Rate, joined
from questions.rules.vocabulary import Part, RateKind

if TYPE_CHECKING:
    import pandas as pd

Column = NDArray[Any]
LABELS = ("ability_branch", "knowledge", "subclass", "difficulty", "modal")
QUESTION = (
    *("question", "external_id", "task", "dataset", "subject", "part", "year", "language"),
    *("question_type", *LABELS, "human"),
)


def question_frame(params: ReportParams) -> pd.DataFrame:
    """Return one row per model, condition, question, marker and policy.

    ``question`` is the key of the question, ``external_id`` its name in the source. ``year`` and
    ``difficulty`` are ``Int64`` with ``<NA>`` where there is none; labels that nobody gave are "".
    ``knowledge`` and ``subclass`` are slugs. ``human`` is the rate of people of the question (0 to
    1), the weighted mean where there are several; NaN without one.

    ``full_each`` are the full marks of one answer, ``subs`` its sub-answers. ``n`` counts the
    answers with points, ``unscored`` those without; ``units`` and ``unscored_units`` count
    sub-answers instead where the part is objective. ``points`` and ``full`` are sums over the
    answers with points, ``right`` counts those of them with full marks. ``exact_n`` counts exact
    answers with points; ``exact_sum`` and ``f1_sum`` are the sums of their exact matches and F1.
    """
    return frame_of(counted(answer_groups(params)), params)


def reasoned_frame(params: ReportParams) -> pd.DataFrame:
    """Return the ``question_frame`` of *params* with a column more: ``reason``.

    It says why answers to the question have no points (one reason where there are several), and is
    "" where all have.
    """
    groups = counted(answer_groups(params))
    frame = frame_of(groups, params)
    keys = ["model", "condition", "question"]
    without = groups[groups["scored"] < groups["n"]]
    reasons = without.groupby(keys)["reason"].min().reset_index()
    return frame.merge(reasons, on=keys, how="left").fillna({"reason": ""})


def frame_of(groups: pd.DataFrame, params: ReportParams) -> pd.DataFrame:
    """Return the ``question_frame`` of *params* from the groups of their answers that count."""
    import pandas as pd

    order, starts = _items(groups)
    first = order[starts]

    def each(name: str) -> Column:
        column: Column = groups[name].to_numpy()
        return column[first]

    def sums(values: Column) -> Column:
        return np.add.reduceat(values[order], starts) if len(starts) else values

    n, scored, points, right = (
        groups[name].to_numpy() for name in ("n", "scored", "points", "right")
    )
    objective = (groups["part"] == Part.OBJECTIVE).to_numpy()
    unit = np.where(objective, groups["subs"].to_numpy(), 1)
    marker = np.full(len(first), params.marker or TEACHERS, dtype=object)
    marker[objective[first]] = KEY
    columns: dict[str, Column] = {
        "model": each("model"),
        "condition": each("condition"),
        "question": each("question"),
        "marker": marker,
        "policy": np.full(len(first), params.policy, dtype=object),
        "full_each": each("full_each"),
        "subs": each("subs"),
        "n": sums(scored),
        "unscored": sums(n - scored),
        "units": sums(scored * unit),
        "unscored_units": sums((n - scored) * unit),
        "points": sums(points),
        "full": sums(scored * groups["full_each"].to_numpy()),
        "right": sums(right),
        **{name: sums(groups[name].to_numpy()) for name in ("exact_n", "exact_sum", "f1_sum")},
    }
    columns["exact_n"] = columns["exact_n"].astype(np.int64)
    own = {
        name: pd.Series(column, dtype=column.dtype, copy=False) for name, column in columns.items()
    }
    questions = questions_frame(params.dataset)
    places = np.searchsorted(questions["question"].to_numpy(), columns["question"])
    of_question = questions.drop(columns="question").take(places).reset_index(drop=True)
    return pd.concat([pd.DataFrame(own, copy=False), of_question], axis=1)


def _items(groups: pd.DataFrame) -> tuple[Column, Column]:
    """Return the order of *groups* by model, condition and question, and where each begins."""
    import pandas as pd

    code = np.zeros(len(groups), dtype=np.int64)
    for name in ("model", "condition", "question"):
        places, values = pd.factorize(groups[name], sort=True)
        code = code * (len(values) + 1) + places
    order = np.argsort(code, kind="stable")
    ordered = code[order]
    starts = np.flatnonzero(np.diff(ordered, prepend=-1)) if len(ordered) else order
    return order, starts


def repeat_frame(params: ReportParams) -> pd.DataFrame:
    """Return one row per model, condition, question and repeat.

    Columns: ``model, condition, question, repeat, points`` (NaN without points), ``full, answer``
    (None where it is not known), ``outcome``, ``reason``.
    """
    rows = counted(answer_groups(params, Detail.RESPONSES))
    rows = rows.assign(points=rows["points"].where(rows["scored"] > 0), full=rows["full_each"])
    names = ("model", "condition", "question", "repeat", "points", "full", "answer", "outcome")
    return rows[[*names, "reason"]].reset_index(drop=True)


def _question_rows(dataset: str) -> list[tuple[Any, ...]]:
    """Return what ``questions_frame`` is made from, rates of people aside."""
    rows = (
        Question.objects.filter(task__dataset__slug=dataset)
        .order_by("pk")
        .values_list(
            *("pk", "external_id", "task__slug", "task__dataset__slug", "subject", "part", "year"),
            *("current__language", "current__question_type", "label__ability_branch"),
            *("label__knowledge__slug", "label__knowledge__parent__slug"),
            *("label__difficulty", "label__modal"),
        )
    )
    return list(rows)


def questions_frame(dataset: str) -> pd.DataFrame:
    """Return the questions of *dataset*, one row each, with the columns ``QUESTION``.

    From memory if nobody wrote the bank; the caller does not change it.
    """
    return of_bank(("questions", dataset), lambda: _questions_frame(dataset))


def _questions_frame(dataset: str) -> pd.DataFrame:
    import pandas as pd

    frame = pd.DataFrame(
        _question_rows(dataset),
        columns=[*QUESTION[:-6], "ability_branch", "slug", "parent", "difficulty", "modal"],
    )
    # A category is its own knowledge; a subclass names its category as the knowledge.
    is_subclass = frame["parent"].notna()
    frame["knowledge"] = frame["parent"].where(is_subclass, frame["slug"])
    frame["subclass"] = frame["slug"].where(is_subclass, None)
    for name in ("ability_branch", "knowledge", "subclass", "modal", "language", "question_type"):
        frame[name] = frame[name].fillna("").astype("object")
    frame = frame.astype({"question": "int64", "year": "Int64", "difficulty": "Int64"})
    frame["human"] = frame["question"].map(_human_rates(dataset)).astype("float64")
    return frame[list(QUESTION)]


def _human_rates(dataset: str) -> dict[int, float]:
    """Return the joined rate of people by question, of those that have one."""
    rates = HumanRate.objects.filter(
        question__task__dataset__slug=dataset, corrected_by=None, kind=RateKind.AVERAGE
    )
    by_question: dict[int, list[Rate]] = defaultdict(list)
    for question, value, weight, people in rates.order_by("pk").values_list(
        "question", "value", "weight", "sample_size"
    ):
        by_question[question].append(Rate(value, weight, people))
    found = {question: joined(rows) for question, rows in by_question.items()}
    return {question: float(rate.value) for question, rate in found.items() if rate is not None}
