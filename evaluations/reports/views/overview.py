"""The report page."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import reselect, retarget

from evaluations.facts.pairs import TEACHER_PAIR
from evaluations.facts.params import ReportParams
from evaluations.facts.words import short_subject
from evaluations.judging.sampling.services import note_look_at_samples
from evaluations.models import Response
from evaluations.reading.selectors.gold_checks import gold_check_of, was_checked
from evaluations.reading.selectors.reading_patterns import scored_by_other_patterns
from evaluations.reading.selectors.repaired_keys import to_score_again
from evaluations.reading.services.rescoring import rescore_repaired
from evaluations.reports.forms import ReportFilter
from evaluations.reports.rules.charts import (
    pairs_scatter,
    rates_chart,
    spreads_box,
    totals_bar,
)
from evaluations.reports.rules.page_tables import (
    by_condition,
    gaps_of,
    model_lines,
    ranked,
    rate_lines,
)
from evaluations.reports.selectors.cuts import is_whole_stream, parts_of_total
from evaluations.reports.selectors.estimates import estimated_rows, shown_samples
from evaluations.reports.selectors.final_marks import finals_note
from evaluations.reports.selectors.kept_reports import kept_value
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.report_pages import (
    Opening,
    Overview,
    asked_by_other_prompts,
    opening,
    overview,
)
from evaluations.reports.services.small_cells import note_overview
from evaluations.reports.views.addresses import address_of
from evaluations.reports.views.nothing import nothing_answered
from evaluations.statistics.coverage import Shortfalls, shortfalls
from evaluations.statistics.ledger import OUTCOMES
from evaluations.statistics.policies import Policy
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.choices import label
from questions.rules.vocabulary import Part, Stream, Subject

if TYPE_CHECKING:
    pass

PAGE_NAME = "reports:overview"
# Responses of which all reports are computed before the page is sent, if they are not in memory.
MOST_AT_ONCE = 5_000


@require_safe
@requires(Capability.SEE_REPORTS)
def report_overview(request: MemberRequest) -> HttpResponse:
    """Show all reports of one dataset; the filters are in the URL.

    Those of many responses come in two steps, the second with ``whole`` in the URL, so that the
    totals are there while the rest is computed.
    """
    offered = choices(request.GET.get("dataset", ""), request.GET.getlist("round"))
    if (nothing := nothing_answered(request, offered, "overview")) is not None:
        return nothing
    form = ReportFilter(request.GET, offered)
    params = form.params()
    colours = offered.chosen(params)
    in_steps = "whole" not in request.GET and offered.answers(params) > MOST_AT_ONCE
    made = opening(params) if in_steps else overview(params)
    short = shortfalls(made.rates, settings.REPORT_MARKED_PERCENT)
    colours = {asked: colours[asked] for asked in ranked(made.converted, colours, short)}
    part = part_to_draw(request.GET.get("part", ""), made)
    of_any_marker = replace(params, marker="")
    samples = shown_samples(of_any_marker)
    note_look_at_samples(samples, acting_user=request.user, page="report")
    note_overview(made, acting_user=request.user)
    estimated = estimated_rows(of_any_marker, samples)
    names = {str(one.public_id): one.round.name for one in samples}
    parts = parts_of_total(params.dataset)
    dataset = next(one for one in offered.datasets if one.slug == params.dataset)
    unchecked = params.policy == Policy.STRICT and gold_check_of(dataset) is None
    context: dict[str, Any] = {
        "estimated_rows": [
            (row, names[row.key["sample"]]) for row in estimated if row.key["subject"] == ALL
        ],
        "form": form,
        "choices": offered,
        "params": params,
        "colours": colours,
        "may_export": request.user.may(Capability.EXPORT),
        "may_see_judgements": request.user.may(Capability.SEE_JUDGEMENTS),
        "to_score": len(to_score_again(params.dataset)) if params.policy == Policy.STRICT else 0,
        "by_patterns": patterns_behind(params),
        "may_see_runs": request.user.may(Capability.SEE_RUNS),
        "may_score": request.user.may(Capability.EDIT_QUESTIONS),
        "finals": None if params.is_judge or params.is_estimate else finals_note(params),
        "finals_link": address_of("reports:rows", params, part=Part.SUBJECTIVE.value),
        "own_prompts": asked_by_other_prompts(params),
        "unchecked": unchecked,
        "has_subjects": bool(parts),
        "has_whole_stream": is_whole_stream(parts),
        "was_checked": unchecked and was_checked(dataset),
        "part": part,
        "shortfalls": short,
        "enough_marked": settings.REPORT_MARKED_PERCENT,
        "is_whole": isinstance(made, Overview),
        **shown(made, params, colours, part, short),
    }
    return _sent(request, context)


def patterns_behind(params: ReportParams) -> int:
    """Return how many responses behind a strict report did not try the patterns of today."""
    if params.policy != Policy.STRICT:
        return 0
    return scored_by_other_patterns(Response.objects.filter(params.of_runs("run__"))).count()


def _sent(request: MemberRequest, context: dict[str, Any]) -> HttpResponse:
    """Return the page; all of it anew where something changed since its top was sent."""
    context["state"] = state = name_of(context.get("kept_key"))
    response = render(request, "evaluations/reports/overview.html", context)
    if request.htmx and request.GET.get("whole", state) != state:
        response = retarget(reselect(response, "#report"), "#report")
    return response


def name_of(state: bytes | None) -> str:
    """Return a name for what a page was made from, for its address; "yes" for an unknown one."""
    return state.hex()[:16] if state else "yes"


@require_POST
@requires(Capability.SEE_REPORTS)
@requires(Capability.EDIT_QUESTIONS)
def report_rescore(request: MemberRequest) -> HttpResponse:
    """Score again the answers whose key was repaired after they were scored."""
    dataset = request.POST.get("dataset", "")
    n = rescore_repaired(dataset, acting_user=request.user)
    scored = ngettext("%(n)d response was rescored.", "%(n)d responses were rescored.", n)
    messages.success(request, scored % {"n": n})
    return redirect(reverse(PAGE_NAME) + "?" + urlencode({"dataset": dataset}))


def part_to_draw(asked: str, made: Opening) -> str:
    """Return the part whose rates are drawn: *asked*, or the subjective one if it has any."""
    if asked in list(Part):
        return asked
    parts = {row.key["part"] for row in made.rates.rows if row.figures["rate"].value is not None}
    return Part.OBJECTIVE.value if parts == {Part.OBJECTIVE.value} else Part.SUBJECTIVE.value


def shown(
    made: Opening,
    params: ReportParams,
    colours: dict[ModelCondition, int],
    part: str,
    short: Shortfalls,
) -> dict[str, Any]:
    """Return the tables and charts of the page, from memory if nothing changed since.

    ``kept_key`` names all that they, and their tables as HTML, depend on.
    """

    def made_anew() -> dict[str, Any]:
        top = at_the_top(made, params, colours, part, short)
        return top | below(made, params, colours) if isinstance(made, Overview) else top

    if made.state is None:
        return made_anew()
    about = (colours, part, settings.REPORT_MARKED_PERCENT, get_language(), reverse(PAGE_NAME))
    key = hashlib.sha256(repr((made.state, about)).encode()).digest()
    # Their figures are those of the reports, which are kept too.
    name = type(made).__name__
    context = kept_value((name, key), made_anew, lambda _context: made.size // 2)
    return context | {"kept_key": key}


def at_the_top(
    made: Opening,
    params: ReportParams,
    colours: dict[ModelCondition, int],
    part: str,
    short: Shortfalls,
) -> dict[str, Any]:
    """Return the table of models, and the charts of totals and subjects with their tables."""
    streams = {stream.value: label(Stream, stream) for stream in Stream}
    subjects = {subject.value: short_subject(subject) for subject in Subject}
    partly = {one: n for one, n in made.answered.items() if n < made.questions}
    gaps = gaps_of(made.rates)
    lines = model_lines(made.converted, made.rates, list(colours), short, partly)
    return {
        "reports": made,
        "model_lines": lines,
        "too_few_marked": any(line.is_withheld for line in lines),
        "gaps": gaps,
        "converted_groups": by_condition(made.converted, list(colours)),
        "totals": totals_bar(
            made.converted,
            colours,
            streams,
            # Published totals are released with one decimal.
            digits=1 if params.policy == Policy.PUBLISHED else 0,
            gaps=gaps.keys(),
            short=short,
        ),
        "subjects": rates_chart(made.rates, part, colours, subjects, short),
    }


def below(
    made: Overview, params: ReportParams, colours: dict[ModelCondition, int]
) -> dict[str, Any]:
    """Return the other tables, the charts of pairs of marks and which pair that of a judge has."""
    asked = list(colours)
    subjects = {subject.value: short_subject(subject) for subject in Subject}
    rates = rate_lines(made.rates, asked)
    pair = made.pairs.judge_pair(params.marker)
    differences = made.pairs.spreads.get(pair, [])
    first, second = (
        _("First teacher, percent of full marks"),
        _("Second teacher, percent of full marks"),
    )
    return {
        "rate_lines": rates,
        "exact_lines": [
            line for line in rates if line.objective and "exact_match" in line.objective
        ],
        "agreement_rows": made.agreement.rows,
        "repeated": [row for row in made.repeats.rows if row.figures["average"].value is not None],
        "ledger_groups": by_condition(made.ledger, asked),
        "outcomes": OUTCOMES,
        "teachers": pairs_scatter(made.pairs.places, first, second, colours),
        "teacher_pairs": made.pairs.numbers[TEACHER_PAIR],
        "judge_pair": pair,
        "spreads": differences,
        "boxes": spreads_box(
            differences,
            subjects,
            _("Judge model minus teachers, percent of full marks"),
            colours,
        ),
    }
