"""The pages of cuts: rates by labels of questions, and points by year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.params import ReportParams
from evaluations.reports.forms import CutFilter
from evaluations.reports.rules.cut_tables import cuts_bar, cuts_heat, matrices, values_of
from evaluations.reports.rules.page_tables import by_condition
from evaluations.reports.selectors.cuts import cut_keys, default_key
from evaluations.reports.selectors.report_choices import Choices, choices
from evaluations.reports.selectors.reports import build_report
from evaluations.reports.services.exports import note_look
from evaluations.reports.views.cut_words import KEYS, value_names
from evaluations.reports.views.nothing import nothing_answered
from evaluations.statistics.cuts import MACRO
from evaluations.statistics.figure import Report
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability

# Values of the first key on one page.
PAGE = 100
# The page is of one dataset.
OFFERED = tuple(key for key in KEYS if key != "dataset")


@require_safe
@requires(Capability.SEE_REPORTS)
def report_cuts(request: MemberRequest) -> HttpResponse:
    """Show rates by one or two keys beside those of people; the keys are in the URL."""
    offered = choices(request.GET.get("dataset", ""), request.GET.getlist("round"))
    if (nothing := nothing_answered(request, offered, "cuts")) is not None:
        return nothing
    form = CutFilter(request.GET, offered)
    params = form.params()
    given = ",".join(filter(None, request.GET.getlist("by")))
    keys = cut_keys(given) if given else (default_key(params.dataset),)
    # The questions of a long list are the rows, a page of them.
    keys = tuple(sorted(keys, key=lambda key: key != "question"))
    params = replace(params, by=",".join(keys))
    report = build_report("cuts", params)
    note_look(params, acting_user=request.user, report="cuts")
    context = {
        **common(request, offered, form, params),
        "report": report,
        "keys": keys,
        "crossed": True,
        "offered": [(key, KEYS[key]) for key in OFFERED],
        "key_names": KEYS,
        "page": Paginator(values_of(report, keys[0]), PAGE).get_page(request.GET.get("page")),
    }
    context |= tables(report, keys, context["colours"], context["page"].object_list)
    return render(request, "evaluations/reports/cuts.html", context)


def common(
    request: MemberRequest, offered: Choices, form: CutFilter, params: ReportParams
) -> dict[str, Any]:
    """Return what both pages show: the toolbar, the filters and the colours."""
    return {
        "form": form,
        "choices": offered,
        "params": params,
        "colours": offered.chosen(params),
        "may_export": request.user.may(Capability.EXPORT),
        "enough_marked": settings.REPORT_MARKED_PERCENT,
    }


def tables(
    report: Report,
    keys: tuple[str, ...],
    colours: dict[ModelCondition, int],
    shown: Sequence[str],
) -> dict[str, Any]:
    """Return the tables and charts of *report*; of the first key the values *shown*."""
    names = value_names(report, keys)
    enough = settings.REPORT_MARKED_PERCENT
    made: dict[str, Any] = {"names": names}
    if len(keys) == 1:
        wanted = {*shown, ALL, MACRO}
        rows = [row for row in report.rows if row.key[keys[0]] in wanted]
        made["groups"] = by_condition(Report("cuts", {}, rows), list(colours))
        made["figures"] = {name for row in rows for name in row.figures}
        made["bars"] = cuts_bar(report, keys[0], names, colours, _("Human rate"), enough)
        return made
    crossed = matrices(report, keys, list(colours), shown)
    made["crossings"] = [(one, cuts_heat(one, keys, names, enough)) for one in crossed]
    return made
