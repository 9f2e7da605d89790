"""Read the answers to a dataset as pandas frames: sums by question, and single repeats.

Excluded items are in no frame. Points are floats, in points of the question. pandas is imported
where it is used: it takes half a second to load, and most processes never need it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.reports.selectors.fact_groups import answer_groups, counted
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.scored_answers import KEY
from questions.models import HumanRate, Question
from questions.rules.four_tuple import Rate, joined
from questions.rules.vocabulary import Part, RateKind

if TYPE_CHECKING:
    import pandas as pd

ASKED = ("model", "condition", "question", "marker", "policy")
SUMS = (
    *("full_each", "subs", "n", "unscored", "units", "unscored_units", "points", "full", "right"),
    *("exact_n", "exact_sum", "f1_sum"),
)
COUNTS = frozenset({"subs", "n", "unscored", "units", "unscored_units", "right", "exact_n"})
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


def frame_of(groups: pd.DataFrame, params: ReportParams) -> pd.DataFrame:
    """Return the ``question_frame`` of *params* from the groups of their answers that count."""
    unit = groups["subs"].where(groups["part"] == Part.OBJECTIVE, 1)
    unscored = groups["n"] - groups["scored"]
    marker = params.marker or TEACHERS
    summed = groups.assign(
        marker=groups["part"].map({Part.OBJECTIVE.value: KEY}).fillna(marker),
        policy=params.policy,
        unscored=unscored,
        units=groups["scored"] * unit,
        unscored_units=unscored * unit,
        full=groups["scored"] * groups["full_each"],
    )
    summed = summed.drop(columns="n").rename(columns={"scored": "n"})
    first = ("full_each", "subs")
    kinds = {name: "first" if name in first else "sum" for name in SUMS}
    sums = summed.groupby([*ASKED], as_index=False).agg(kinds)
    sums = sums.astype(
        {"question": "int64"}
        | dict.fromkeys(COUNTS, "int64")
        | dict.fromkeys(set(SUMS) - COUNTS, "float64")
    )
    return sums.merge(questions_frame(params.dataset), on="question", how="left")


def repeat_frame(params: ReportParams) -> pd.DataFrame:
    """Return one row per model, condition, question and repeat.

    Columns: ``model, condition, question, repeat, points`` (NaN without points), ``full, answer``
    (None where it is not known), ``outcome``, ``reason``.
    """
    rows = counted(answer_groups(params, Detail.RESPONSES))
    rows = rows.assign(points=rows["points"].where(rows["scored"] > 0), full=rows["full_each"])
    names = ("model", "condition", "question", "repeat", "points", "full", "answer", "outcome")
    return rows[[*names, "reason"]].reset_index(drop=True)


def question_rows(dataset: str) -> list[tuple[Any, ...]]:
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
    """Return the questions of *dataset*, one row each, with the columns ``QUESTION``."""
    import pandas as pd

    frame = pd.DataFrame(
        question_rows(dataset),
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
