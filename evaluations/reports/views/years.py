"""The page of points by year."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.words import place_name
from evaluations.reports.forms import YearsFilter
from evaluations.reports.rules.year_tables import year_lines, years_chart
from evaluations.reports.selectors.cuts import years_without_questions
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.reports import build_report
from evaluations.reports.services.exports import note_look
from evaluations.reports.views.cuts import common
from evaluations.reports.views.nothing import nothing_answered
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.choices import label
from questions.rules.vocabulary import Stream


@require_safe
@requires(Capability.SEE_REPORTS)
def report_years(request: MemberRequest) -> HttpResponse:
    """Show the points out of 750 of each year, or what a year lacks."""
    offered = choices(request.GET.get("dataset", ""), request.GET.getlist("round"))
    if (nothing := nothing_answered(request, offered, "years")) is not None:
        return nothing
    form = YearsFilter(request.GET, offered)
    params = form.params()
    report = build_report("trend", params)
    note_look(params, acting_user=request.user, report="trend")
    context = common(request, offered, form, params)
    streams = {stream.value: label(Stream, stream) for stream in Stream}
    groups = year_lines(report, list(context["colours"]))
    context |= {
        "without_questions": [
            (place_name(place), years)
            for place, years in years_without_questions(params.dataset).items()
        ],
        "streams": streams,
        "groups": groups,
        "left_out": [one for one in context["colours"] if one not in {g.asked for g in groups}],
        "totals": years_chart(report, context["colours"], streams, _("Year"), _("Points of 750")),
    }
    return render(request, "evaluations/reports/years.html", context)
