"""Build the reports ``cuts``, ``trend`` and ``leakage``, and find the questions of a cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from evaluations.facts.params import TEACHERS, ReportParams
from evaluations.reports.selectors.frames import questions_frame
from evaluations.statistics.cuts import CUT_KEYS, MOST_KEYS, TaskRates, cuts, key_text
from evaluations.statistics.figure import Report
from evaluations.statistics.trend import leakage, trend
from gradeapp.common.refusals import BadInput
from questions.models import HumanRate, Question
from questions.rules.vocabulary import RateKind

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


def trend_report(frame: pd.DataFrame, params: ReportParams, about: Mapping[str, object]) -> Report:
    """Return the report ``trend`` of a ``question_frame`` of *params*."""
    marker = params.marker or TEACHERS
    return trend(frame, marker=marker, policy=params.policy, params=about)


def leakage_report(frame: pd.DataFrame, newest: int | None, about: Mapping[str, object]) -> Report:
    """Return the report ``leakage``: the year *newest* (the last one if None) against all others.

    *frame* is a ``question_frame`` of every year. Questions of later years take no part.
    """
    last = newest or max(frame["year"].dropna(), default=0)
    known = frame[frame["year"] <= last]
    return leakage(known, {int(last)}, params=dict(about) | {"newest": int(last) or None})


def task_rates(dataset: str) -> TaskRates:
    """Return the rates of people that count of whole tasks of *dataset*."""
    counting = HumanRate.objects.filter(task__dataset__slug=dataset, corrected_by=None)
    by_kind: dict[str, dict[str, float]] = {kind: {} for kind in RateKind}
    for kind, task, value in counting.order_by("pk").values_list("kind", "task__slug", "value"):
        by_kind[kind][task] = float(value)
    return TaskRates(average=by_kind[RateKind.AVERAGE], top=by_kind[RateKind.TOP])


def questions_of_cut(dataset: str, cut: Mapping[str, str]) -> frozenset[int]:
    """Return the questions of *dataset* whose keys have the values of *cut* ("" for none)."""
    frame = questions_frame(dataset)
    for key, value in cut.items():
        frame = frame[key_text(frame, key) == value]
    return frozenset(frame["question"].tolist())
