"""Build reports and exports from the rows of the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from evaluations.facts.judged_marks import calibration_of
from evaluations.facts.open_marking import marks_wait_for_the_lead
from evaluations.facts.params import TEACHERS, ReportParams, markers_of, validated
from evaluations.marking.rounds.selectors.exports import Cells, marks_as_cells
from evaluations.models import Condition, Mark, Response, Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.reports.selectors import paper_tables
from evaluations.reports.selectors.answered import questions_by_subject, with_answered
from evaluations.reports.selectors.cuts import (
    cut_keys,
    cuts_report,
    leakage_report,
    trend_report,
)
from evaluations.reports.selectors.empty_reports import with_reason
from evaluations.reports.selectors.estimates import check_estimate, estimated_rows
from evaluations.reports.selectors.fact_groups import answer_groups
from evaluations.reports.selectors.fact_query import Detail
from evaluations.reports.selectors.frames import frame_of
from evaluations.reports.selectors.group_counts import (
    About,
    about_groups,
    counted,
    parts_of,
    task_outcomes,
)
from evaluations.reports.selectors.kept_reports import kept
from evaluations.reports.selectors.pair_sums import agreement_rows
from evaluations.reports.selectors.prompt_settings import GAINS, SETTINGS, settings_report
from evaluations.reports.selectors.scored_answers import (
    included,
    scored_pages,
)
from evaluations.runs.selectors.conditions import changed_names
from evaluations.statistics.accuracy import converted_of, rates_of
from evaluations.statistics.figure import Report, ReportRow
from evaluations.statistics.ledger import ledger_of
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.repeat_sums import repeats_of
from evaluations.statistics.retries import retries_of
from evaluations.statistics.rows import ScoredAnswer
from gradeapp.common.refusals import BadInput
from questions.models import Question

if TYPE_CHECKING:
    import pandas as pd

REPORTS = (
    *("rates", "converted", "cuts", "trend", "leakage", "repeats", "agreement", "ledger"),
    *("retries", "calibration"),
)
# Their rows compare the conditions of a model.
OF_SETTINGS = (SETTINGS, GAINS)
OF_A_PAPER = (paper_tables.NAME,)
EVERY_REPORT = (*REPORTS, *OF_SETTINGS, *OF_A_PAPER)
SCORE_COLUMNS = (
    *("dataset", "model", "condition", "task", "id", "subject", "part", "year", "repeat"),
    *("marker", "policy", "points", "full", "sub_answers", "outcome", "reason", "answer"),
    "run",
)


ReplyModels = dict[str, dict[str, int]]


def build_report(name: str, params: ReportParams) -> Report:
    """Return the report *name*, with the parameters it was made from.

    Without a marker, ``converted`` has rows for every marker and each estimate from a sample,
    ``agreement`` for every pair, and the others use the teachers. Items that do not count are left
    out; ``params`` contains the number of ``items`` with answers, how many are ``left_out`` by
    status, the number of their answers (``excluded``), and the ``unscored`` answers by reason. A
    report without rows has the ``reason`` there.
    Raises BadInput or NotFound, which lists the valid values, for an unknown report, dataset,
    model, marker, policy, key or year.
    """
    if name not in EVERY_REPORT:
        raise BadInput(
            _("There is no report “%(name)s”; choose one of: %(known)s.")
            % {"name": name, "known": ", ".join(EVERY_REPORT)}
        )
    if name == paper_tables.NAME:
        return paper_tables.paper_tables(params)
    return with_reason(_build(name, params), params)


def _build(name: str, params: ReportParams) -> Report:
    """Return a report of the answers to one dataset."""
    if params.is_estimate:
        validated(replace(params, marker=""))
        check_estimate(name, params)
        return Report(name, asked_params(params), estimated_rows(params))
    params = validated(params)
    if name == "calibration":
        return calibration_of(params)
    if name == "agreement":
        return Report("agreement", asked_params(params), agreement_rows(params))
    if name == "retries":
        of_one_marker = replace(params, marker=params.marker or TEACHERS)
        rows = answer_groups(of_one_marker, Detail.RESPONSES)
        about = asked_params(of_one_marker) | about_groups(rows)
        return retries_of(counted(rows), retried_responses(params.dataset), params=about)
    keys = cut_keys(params.by) if name == "cuts" else ()
    if name in OF_SETTINGS:
        return _of_all_models(name, params)
    markers = [one.marker for one in answers_behind(name, params)]
    named = changed_models(params)

    def make() -> list[Report]:
        if name == "converted":
            return [_converted(params, markers, named)]
        return [_of_groups(name, params, keys, named)]

    (made,) = kept(name, params, (markers, named), make)
    if name == "converted":
        # Not kept with the others: a sample changes without a change of the facts.
        return replace(made, rows=[*made.rows, *estimated_rows(params)])
    return made


def answers_behind(name: str, params: ReportParams) -> list[ReportParams]:
    """Return which answers the report or summary *name* sums: for each marker, those of *params*.

    Looks at marks are kept of the same answers (``small_cells``).
    """
    # In ``leakage`` the year is the newest one, and the others are its base.
    asked = replace(params, year=None) if name == "leakage" else params
    if name == paper_tables.NAME:
        markers = paper_tables.markers_in(params)
    elif name == "converted" and not params.marker:
        markers = markers_of(params.dataset) or [TEACHERS]
    else:
        # The answers of two markers are never pooled.
        markers = [params.marker or TEACHERS]
    return [replace(asked, marker=marker) for marker in markers]


def _converted(params: ReportParams, markers: Sequence[str], named: ReplyModels) -> Report:
    """Return report ``converted`` with rows for each of *markers*."""
    about, rows = About(), []
    there = questions_by_subject(params)
    for part in parts_of(params):
        each = [replace(part, marker=marker) for marker in markers]
        frames = []
        for one in each:
            groups = answer_groups(one)
            if one is each[0]:
                about.add(groups)
            frames.append(frame_of(counted(groups), one))
        made = converted_of(frames, marker=params.marker or None).rows
        rows += with_answered(made, frames[0], there)
    return Report("converted", asked_params(params, named) | about.numbers(), rows)


def _of_groups(name: str, params: ReportParams, keys: Sequence[str], named: ReplyModels) -> Report:
    """Return a report of one marker that is computed from sums by question."""
    if name == "leakage":
        return _of_all_models(name, params)
    (one,) = answers_behind(name, params)
    detail = DETAILS.get(name, Detail.QUESTIONS)
    about, rows = About(), []
    for part in parts_of(one):
        groups = answer_groups(part, detail)
        about.add(groups)
        rows += _rows(name, groups, part, keys)
    # Marks by people and judges are not in ``repeats``, so it names no marker of its own.
    asked = asked_params(params if name == "repeats" else one, named)
    return Report(name, asked | about.numbers(), rows)


# What else than sums by question some reports need.
DETAILS = {"ledger": Detail.LEDGER, "repeats": Detail.ANSWERS}


def _rows(
    name: str, groups: pd.DataFrame, params: ReportParams, keys: Sequence[str]
) -> list[ReportRow]:
    """Return the rows of report *name* for the models in *groups*."""
    if name == "ledger":
        return ledger_of(task_outcomes(groups)).rows
    if name == "repeats":
        return repeats_of(counted(groups)).rows
    frame = frame_of(counted(groups), params)
    if name == "cuts":
        return cuts_report(frame, params.dataset, keys, {}).rows
    if name == "trend":
        return trend_report(frame, params, {}).rows
    return rates_of(frame).rows


def _of_all_models(name: str, params: ReportParams) -> Report:
    """Return report *name*, which compares what all models have answered."""
    (asked,) = answers_behind(name, params)
    groups = answer_groups(asked)
    about = asked_params(asked) | about_groups(groups)
    frame = frame_of(counted(groups), asked)
    if name == "leakage":
        return leakage_report(frame, params.year, about)
    return settings_report(name, frame, params, about)


def report_params(params: ReportParams, rows: list[ScoredAnswer]) -> dict[str, object]:
    """Return *params* as JSON, with the numbers of items and of answers without points."""
    kept = list(included(rows))
    unscored = Counter(row.reason for row in kept if row.points is None)
    items = {row.question: row for row in rows}
    left_out = Counter(
        row.reason for row in items.values() if row.outcome == LedgerOutcome.EXCLUDED
    )
    return asked_params(params) | {
        "items": len(items),
        "left_out": dict(sorted(left_out.items())),
        "excluded": len(rows) - len(kept),
        "unscored": dict(sorted(unscored.items())),
    }


def asked_params(params: ReportParams, named: ReplyModels | None = None) -> dict[str, object]:
    """Return *params* as JSON, with ``reply_models`` of conditions that named several models.

    *named* are the ``changed_models``, if they are known.
    """
    named = changed_models(params) if named is None else named
    return params.as_dict() | ({"reply_models": named} if named else {})


def changed_models(params: ReportParams) -> ReplyModels:
    """Return, by model and condition, the names that replies gave for the model with their numbers.

    Of the runs that *params* choose, and those whose replies named several.
    """
    answered = Run.objects.filter(params.of_runs(), purpose=RunPurpose.ANSWER)
    chosen = Condition.objects.filter(runs__in=answered).select_related("language_model")
    asked = {one.pk: str(one) for one in chosen.distinct()}
    changed = changed_names(asked, params.of_runs("job__run__"))
    return {asked[pk]: dict(names) for pk, names in changed.items()}


def retried_responses(dataset: str) -> set[int]:
    """Return the keys of the responses to *dataset* that needed more than one call."""
    answers = Response.objects.filter(run__dataset__slug=dataset, attempt__number__gt=1)
    return set(answers.values_list("pk", flat=True))


def score_rows(params: ReportParams) -> Iterator[Cells]:
    """Yield every answer with its points, in ``SCORE_COLUMNS``."""
    questions = Question.objects.filter(task__dataset__slug=params.dataset)
    ids = dict(questions.values_list("pk", "external_id"))
    for page in scored_pages(params):
        for row in page:
            yield (
                *(row.dataset, row.model, row.condition, row.task, ids[row.question]),
                *(row.subject, row.part),
                *(row.year, row.repeat, row.marker, row.policy, row.points, row.full),
                *(row.subs, row.outcome, row.reason, row.answer),
                row.run,
            )


def marks_of(params: ReportParams) -> QuerySet[Mark]:
    """Return every version of the marks of the dataset in the rounds that count.

    Without those that leads may not see yet.
    """
    marks = Mark.objects.filter(
        params.of_rounds("slot__answer__round"),
        params.of_runs("slot__answer__response__run__"),
    )
    if params.year is not None:
        marks = marks.filter(slot__answer__question__year=params.year)
    return marks.exclude(marks_wait_for_the_lead("slot__answer__"))


def mark_rows(params: ReportParams) -> Iterator[Cells]:
    """Yield the marks of the dataset in the rounds that count, as ``marks_as_cells`` does."""
    return marks_as_cells(marks_of(params))
