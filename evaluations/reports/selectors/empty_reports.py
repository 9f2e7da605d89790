"""Why a report has no rows: one reason for the whole, as each figure without a value has one."""

from __future__ import annotations

from dataclasses import replace

from django.db.models import QuerySet

from evaluations.facts.params import ReportParams
from evaluations.facts.points import SUSPENDED
from evaluations.models import Judge, Response
from evaluations.reports.selectors.prompt_settings import GAINS, SETTINGS
from evaluations.statistics.figure import Report
from questions.models import Question

NO_RESPONSES = "no_responses"
NONE_CHOSEN = "none_chosen"
NO_YEARS = "no_years"
# What a report lacks where there are responses.
LACKING = {
    "repeats": "no_objective_responses",
    "agreement": "no_mark_pairs",
    "calibration": "no_judged_pairs",
    SETTINGS: "no_settings",
    GAINS: "no_two_settings",
}
COMPARE_MARKS = ("agreement", "calibration")


def with_reason(report: Report, params: ReportParams) -> Report:
    """Return *report*; one without rows has the ``reason`` among its parameters."""
    if report.rows:
        return report
    return replace(report, params=report.params | {"reason": why_empty(report.name, params)})


def why_empty(name: str, params: ReportParams) -> str:
    """Return why the report or the table *name* of *params* has no rows."""
    if not Response.objects.filter(run__dataset__slug=params.dataset).exists():
        return NO_RESPONSES
    answers = Response.objects.filter(params.of_runs("run__"))
    if params.year is not None:
        answers = answers.filter(question__year=params.year)
    if not answers.exists():
        return NONE_CHOSEN
    dated = Question.objects.filter(task__dataset__slug=params.dataset, year__isnull=False)
    if name in ("trend", "leakage") and not dated.exists():
        return NO_YEARS
    if name in COMPARE_MARKS and _lacks_suspended_judges(answers, params):
        return SUSPENDED
    return LACKING.get(name, "no_data")


def _lacks_suspended_judges(answers: QuerySet[Response], params: ReportParams) -> bool:
    """Whether *answers* with a final mark have marks of judges, all of which are suspended."""
    final = answers.filter(blind_answers__final__isnull=False)
    judges = Judge.objects.filter(judgements__response__in=final)
    if params.judge:
        judges = judges.filter(name=params.judge)
    return judges.exists() and not judges.filter(suspended_at=None).exists()
