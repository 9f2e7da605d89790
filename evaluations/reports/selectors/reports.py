"""Builds a report by its name: rows out of the database, figures out of the rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from django.utils.translation import gettext as _

from evaluations.facts.pairs import mark_pairs
from evaluations.facts.params import TEACHERS, ReportParams, checked, markers_of
from evaluations.reports.selectors.scored_answers import scored_answers, taking_part
from evaluations.statistics.accuracy import converted_report, rates
from evaluations.statistics.agreement import agreement_report
from evaluations.statistics.figure import Report
from evaluations.statistics.ledger import ledger
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.repeats import repeats
from evaluations.statistics.rows import ScoredAnswer
from gradeapp.common.refusals import BadInput
from questions.rules.vocabulary import Part

EXCLUDED = LedgerOutcome.EXCLUDED.value


def build_report(name: str, params: ReportParams) -> Report:
    """The report called *name*, with the parameters that made it.

    Without a marker ``converted`` has rows for every marker there is,
    ``agreement`` for every pair, and the others take the teachers. Items that are
    left out take no part; ``params`` says of how many ``items`` there are answers,
    how many of these are ``left_out`` and why, and counts their answers under
    ``excluded`` (the ledger lists them) and, by reason, the ``unscored`` ones.
    Raises a Refusal that says what there is for an unknown report,
    dataset, model, marker, policy or year.
    """
    if name in LATER:
        raise BadInput(_("The report “%(name)s” cannot be made yet.") % {"name": name})
    if name not in REPORTS:
        known = ", ".join((*REPORTS, *LATER))
        raise BadInput(
            _("There is no report “%(name)s”; choose one of: %(known)s.")
            % {"name": name, "known": known}
        )
    return REPORTS[name](checked(params))


def _rates(params: ReportParams) -> Report:
    params = _with_marker(params)
    rows = scored_answers(params)
    return rates(taking_part(rows), params=told(params, rows))


def _converted(params: ReportParams) -> Report:
    markers = [params.marker] if params.marker else markers_of(params.dataset) or [TEACHERS]
    rows = scored_answers(replace(params, marker=markers[0]))
    parameters = told(params, rows)
    for marker in markers[1:]:
        others = scored_answers(replace(params, marker=marker))
        rows += [row for row in others if row.part == Part.SUBJECTIVE]
    return converted_report(taking_part(rows), marker=params.marker or None, params=parameters)


def _repeats(params: ReportParams) -> Report:
    rows = scored_answers(_with_marker(params))
    return repeats(taking_part(rows), params=told(params, rows))


def _ledger(params: ReportParams) -> Report:
    params = _with_marker(params)
    rows = scored_answers(params)
    return ledger(rows, params=told(params, rows))


def _agreement(params: ReportParams) -> Report:
    return agreement_report(mark_pairs(params), params=params.as_dict())


def _with_marker(params: ReportParams) -> ReportParams:
    """Answers of two markers must not be pooled, so one is taken."""
    return replace(params, marker=params.marker or TEACHERS)


def told(params: ReportParams, rows: list[ScoredAnswer]) -> dict[str, object]:
    """The parameters as a report prints them, with what has no points and why."""
    active = list(taking_part(rows))
    unscored = Counter(row.reason for row in active if row.points is None)
    items = {row.question: row for row in rows}
    left_out = Counter(row.reason for row in items.values() if row.outcome == EXCLUDED)
    return params.as_dict() | {
        "items": len(items),
        "left_out": dict(sorted(left_out.items())),
        "excluded": len(rows) - len(active),
        "unscored": dict(sorted(unscored.items())),
    }


REPORTS: dict[str, Callable[[ReportParams], Report]] = {
    "rates": _rates,
    "converted": _converted,
    "repeats": _repeats,
    "agreement": _agreement,
    "ledger": _ledger,
}
LATER = ("cuts", "trend")
