"""Build the reports ``cuts``, ``trend`` and ``leakage``, and find the questions of a cut."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from evaluations.facts.params import ReportParams
from evaluations.reports.selectors.frames import questions_frame
from evaluations.statistics.cuts import CUT_KEYS, MOST_KEYS, TaskRates, cuts, key_text
from evaluations.statistics.figure import Report
from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.trend import leakage, trend
from gradeapp.common.refusals import BadInput
from questions.models import HumanRate, Question
from questions.rules.four_tuple import Rate, joined
from questions.rules.vocabulary import Part, RateKind, Subject

if TYPE_CHECKING:
    import pandas as pd


def cut_keys(by: str) -> tuple[str, ...]:
    """Return the keys in *by*, one or two with a comma between. Raises BadInput for others."""
    keys = tuple(key.strip() for key in by.split(",") if key.strip())
    for key in keys:
        if key not in CUT_KEYS:
            raise BadInput(
                _("There is no “%(value)s”; choose one of: %(known)s.")
                % {"value": key, "known": ", ".join(CUT_KEYS)}
            )
    if not keys or len(keys) > MOST_KEYS or len(set(keys)) != len(keys):
        raise BadInput(
            _("Cut by one key or by two different ones with a comma between: %(known)s.")
            % {"known": ", ".join(CUT_KEYS)}
        )
    return keys


def default_key(dataset: str) -> str:
    """Return the key to begin with: the ability branch of labelled questions, else the task."""
    questions = Question.objects.filter(task__dataset__slug=dataset)
    labelled = questions.filter(label__isnull=False).exclude(label__ability_branch="").exists()
    return "ability_branch" if labelled else "task"


def cuts_report(
    frame: pd.DataFrame, dataset: str, keys: Sequence[str], about: Mapping[str, object]
) -> Report:
    """Return the report ``cuts`` of a ``question_frame`` of *dataset* by *keys*."""
    return cuts(frame, keys, tasks=task_rates(dataset), params=about)


def years_without_questions(dataset: str) -> dict[str, list[int]]:
    """Return the years in which *dataset* has no question of a part of the total, by that part.

    Parts are named as in reasons (``Chemistry/subjective``). A part without a question in any year
    is left out, and so are years without any question.
    """
    frame = questions_frame(dataset)
    dated = frame[frame["year"].notna()]
    parts = (dated["subject"] + "/" + dated["part"]).rename("place")
    there = dated.groupby([parts, "year"]).size().unstack("year", fill_value=0)
    named = {f"{subject}/{part}" for subject in Subject for part in Part}
    return {
        str(place): [int(year) for year in there.columns[row == 0]]
        for place, row in zip(there.index, there.to_numpy(), strict=True)
        if place in named and (row == 0).any()
    }


def parts_of_total(dataset: str) -> set[tuple[str, str]]:
    """Return the subjects of the examination, with their parts, that *dataset* has questions of."""
    there = Question.objects.filter(task__dataset__slug=dataset, subject__in=list(Subject))
    return set(there.order_by().values_list("subject", "part").distinct())


def is_whole_stream(parts: Collection[tuple[str, str]]) -> bool:
    """Return whether *parts* are enough for a total of 750: both of every subject of a stream."""
    return any(
        all((subject.value, part.value) in parts for subject in subjects for part in Part)
        for subjects in STREAMS.values()
    )


def trend_report(frame: pd.DataFrame, params: ReportParams, about: Mapping[str, object]) -> Report:
    """Return the report ``trend`` of a ``question_frame`` of *params*."""
    return trend(frame, policy=params.policy, params=about)


def leakage_report(frame: pd.DataFrame, newest: int | None, about: Mapping[str, object]) -> Report:
    """Return the report ``leakage``: the year *newest* (the last one if None) against all others.

    *frame* is a ``question_frame`` of every year.
    """
    known = up_to(frame, newest)
    last = newest or max(known["year"], default=0)
    return leakage(known, {int(last)}, params=dict(about) | {"newest": int(last) or None})


def up_to(frame: pd.DataFrame, newest: int | None) -> pd.DataFrame:
    """Return the questions in ``leakage``, with column ``is_newest``: whether of the last year.

    Questions without a year and of later years than *newest* take no part.
    """
    last = newest or max(frame["year"].dropna(), default=0)
    known = frame[frame["year"].notna() & (frame["year"] <= last)]
    return known.assign(is_newest=known["year"] == last)


def task_rates(dataset: str) -> TaskRates:
    """Return the rates of people of whole tasks of *dataset*, those that count joined."""
    counting = HumanRate.objects.filter(task__dataset__slug=dataset, corrected_by=None)
    given: dict[tuple[str, str], list[Rate]] = defaultdict(list)
    for rate in counting.select_related("task").order_by("pk"):
        assert rate.task is not None  # the filter
        one = Rate(rate.value, rate.weight, rate.sample_size)
        given[rate.kind, rate.task.slug].append(one)
    by_kind: dict[str, dict[str, float]] = {kind: {} for kind in RateKind}
    for (kind, task), rates in given.items():
        if reference := joined(rates):
            by_kind[kind][task] = float(reference.value)
    return TaskRates(average=by_kind[RateKind.AVERAGE], top=by_kind[RateKind.TOP])


def questions_of_cut(dataset: str, cut: Mapping[str, str]) -> frozenset[int]:
    """Return the questions of *dataset* whose keys have the values of *cut* ("" for none)."""
    frame = questions_frame(dataset)
    for key, value in cut.items():
        frame = frame[key_text(frame, key) == value]
    return frozenset(frame["question"].tolist())
