"""The page of points by year."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.reports.forms import YearsFilter
from evaluations.reports.rules.year_tables import year_lines, years_chart
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.reports import build_report
from evaluations.reports.views.cuts import common
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.choices import label
from questions.rules.vocabulary import Stream


@require_safe
@requires(Capability.SEE_REPORTS)
def report_years(request: MemberRequest) -> HttpResponse:
    """Show the points out of 750 of each year, or what a year lacks."""
    offered = choices(request.GET.get("dataset", ""), request.GET.getlist("round"))
    if not offered.dataset:
        context = {"may_see_runs": request.user.may(Capability.SEE_RUNS)}
        return render(request, "evaluations/reports/empty.html", context)
    form = YearsFilter(request.GET, offered)
    params = form.params()
    report = build_report("trend", params)
    context = common(request, offered, form, params)
    streams = {stream.value: label(Stream, stream) for stream in Stream}
    groups = year_lines(report, list(context["colours"]))
    context |= {
        "streams": streams,
        "groups": groups,
        "left_out": [one for one in context["colours"] if one not in {g.asked for g in groups}],
        "totals": years_chart(report, context["colours"], streams, _("Year"), _("Points of 750")),
    }
    return render(request, "evaluations/reports/years.html", context)
