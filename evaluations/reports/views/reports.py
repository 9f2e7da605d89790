"""The report page, the answers of its figures, and its tables as CSV files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluations.facts.looks import record_scope
from evaluations.facts.pairs import TEACHER_PAIR
from evaluations.facts.params import ReportParams, validated
from evaluations.facts.words import short_subject
from evaluations.judging.sampling.services import note_look_at_samples
from evaluations.reading.selectors.gold_checks import gold_check_of, was_checked
from evaluations.reading.selectors.repaired_keys import to_score_again
from evaluations.reading.services.rescoring import rescore_repaired
from evaluations.reports.forms import CELL, PAIR, ReportFilter, read_cell, read_params
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
from evaluations.reports.selectors.kept_reports import kept_value
from evaluations.reports.selectors.report_choices import choices
from evaluations.reports.selectors.report_pages import (
    Overview,
    PairsBehind,
    asked_by_other_prompts,
    overview,
    pair_facts,
)
from evaluations.reports.selectors.rows_behind import (
    Cell,
    RowsBehind,
    complete_repeats,
    frames_by_part,
    read_by,
    responses_in,
    row_facts,
)
from evaluations.reports.services.small_cells import note_overview
from evaluations.reports.views.cut_words import cut_names
from evaluations.reports.views.nothing import nothing_answered
from evaluations.statistics.accuracy import converted_of_parts, frame_exact
from evaluations.statistics.coverage import Coverage, Shortfalls, coverage, shortfalls
from evaluations.statistics.figure import Figure
from evaluations.statistics.ledger import OUTCOMES
from evaluations.statistics.policies import Policy
from evaluations.statistics.repeats import Item, accuracies, repeatability
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, frame_tally
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.choices import label
from questions.rules.vocabulary import Part, Stream, Subject

if TYPE_CHECKING:
    import pandas as pd

PAGE = 50
PAGE_NAME = "reports:overview"


@require_safe
@requires(Capability.SEE_REPORTS)
def report_overview(request: MemberRequest) -> HttpResponse:
    """Show all reports of one dataset; the filters are in the URL."""
    offered = choices(request.GET.get("dataset", ""), request.GET.getlist("round"))
    if (nothing := nothing_answered(request, offered, "overview")) is not None:
        return nothing
    form = ReportFilter(request.GET, offered)
    params = form.params()
    colours = offered.chosen(params)
    made = overview(params)
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
        "may_score": request.user.may(Capability.EDIT_QUESTIONS),
        "own_prompts": asked_by_other_prompts(params),
        "unchecked": unchecked,
        "has_subjects": bool(parts),
        "has_whole_stream": is_whole_stream(parts),
        "was_checked": unchecked and was_checked(dataset),
        "part": part,
        "shortfalls": short,
        "enough_marked": settings.REPORT_MARKED_PERCENT,
        **shown(made, params, colours, part, short),
    }
    return render(request, "evaluations/reports/overview.html", context)


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


def part_to_draw(asked: str, made: Overview) -> str:
    """Return the part whose rates are drawn: *asked*, or the subjective one if it has any."""
    if asked in list(Part):
        return asked
    parts = {row.key["part"] for row in made.rates.rows if row.figures["rate"].value is not None}
    return Part.OBJECTIVE.value if parts == {Part.OBJECTIVE.value} else Part.SUBJECTIVE.value


def shown(
    made: Overview,
    params: ReportParams,
    colours: dict[ModelCondition, int],
    part: str,
    short: Shortfalls,
) -> dict[str, Any]:
    """Return the tables and charts of the page, from memory if nothing changed since.

    ``kept_key`` names all that they, and their tables as HTML, depend on.
    """

    def made_anew() -> dict[str, Any]:
        return {
            **tables(made, list(colours), short),
            **charts(made, params, colours, part, short),
        }

    if made.state is None:
        return made_anew()
    about = (colours, part, settings.REPORT_MARKED_PERCENT, get_language(), reverse(PAGE_NAME))
    key = hashlib.sha256(repr((made.state, about)).encode()).digest()
    # Their figures are those of the reports, which are kept too.
    context = kept_value(("page", key), made_anew, lambda _context: made.size // 2)
    return context | {"kept_key": key}


def tables(made: Overview, asked: list[ModelCondition], short: Shortfalls) -> dict[str, Any]:
    """Return the tables of the page."""
    rates = rate_lines(made.rates, asked)
    partly = {one: n for one, n in made.answered.items() if n < made.questions}
    return {
        "reports": made,
        "model_lines": model_lines(made.converted, made.rates, asked, short, partly),
        "gaps": gaps_of(made.rates),
        "rate_lines": rates,
        "exact_lines": [
            line for line in rates if line.objective and "exact_match" in line.objective
        ],
        "converted_groups": by_condition(made.converted, asked),
        "agreement_rows": made.agreement.rows,
        "repeated": [row for row in made.repeats.rows if row.figures["average"].value is not None],
        "ledger_groups": by_condition(made.ledger, asked),
        "outcomes": OUTCOMES,
    }


def charts(
    made: Overview,
    params: ReportParams,
    colours: dict[ModelCondition, int],
    part: str,
    short: Shortfalls,
) -> dict[str, Any]:
    """Return the four charts of the page, and the pair that the chart of the judge shows."""
    streams = {stream.value: label(Stream, stream) for stream in Stream}
    subjects = {subject.value: short_subject(subject) for subject in Subject}
    pair = made.pairs.judge_pair(params.marker)
    differences = made.pairs.spreads.get(pair, [])
    first, second = (
        _("First teacher, percent of full marks"),
        _("Second teacher, percent of full marks"),
    )
    return {
        "totals": totals_bar(
            made.converted,
            colours,
            streams,
            # Published totals are released with one decimal.
            digits=1 if params.policy == Policy.PUBLISHED else 0,
            gaps=gaps_of(made.rates).keys(),
            short=short,
        ),
        "subjects": rates_chart(made.rates, part, colours, subjects, short),
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


@require_safe
@requires(Capability.SEE_REPORTS)
def report_rows(request: MemberRequest) -> HttpResponse:
    """Show the answers of one figure, and their sums."""
    params = validated(read_params(request.GET, others=CELL | {"page"}))
    cell = read_cell(request.GET)
    rows = RowsBehind(params, cell)
    page = Paginator(cast(Any, rows), PAGE).get_page(request.GET.get("page"))
    context = {"params": params, "cell": cell, "page": page}
    context["sums"] = sums_of(rows.frame, cell) + pooled_lines(params, rows.frame, cell)
    if cell.complete:
        context["repeated"] = figures_of_repeats(complete_repeats(params))
    if cell.pattern:
        context["read"] = read = len(read_by(params))
        context["read_share"] = Figure(len(rows) / read, read) if read else None
    context["facts"] = row_facts(page.object_list)
    context["cut"] = cut_names(cell.cut)
    count_items(request.user, "mark", (row.response for row in page.object_list))
    scope = responses_in(params, cell)
    if cell.part == Part.OBJECTIVE:  # what people marked while it was not
        scope = scope.filter(question__part=Part.OBJECTIVE)
    record_scope(scope, acting_user=request.user, page="report")
    return render(request, "evaluations/reports/rows.html", context)


@dataclass(frozen=True, slots=True)
class SumLine:
    """The sums of the answers to one part of one model and condition.

    ``short`` is the coverage if too few are marked, ``converted`` the points in the examination, if
    the answers are those to one subject; ``total`` is set in the last line of both parts.
    ``people`` is the rate of people of the same questions, weighted as ours, where all have one.
    """

    asked: ModelCondition
    part: str
    figures: dict[str, Figure]
    short: Coverage | None
    converted: Figure | None
    total: Figure | None = None
    people: Figure | None = None

    @property
    def gap(self) -> Figure | None:
        """The rate less that of people."""
        rate = self.figures["rate"].value
        if self.people is None or self.people.value is None or rate is None:
            return None
        return Figure(rate - self.people.value, self.people.n)


def sums_of(frame: pd.DataFrame, cell: Cell) -> list[SumLine]:
    """Return the sums of a ``question_frame`` by model, condition and part."""
    lines = []
    for asked, by_part in frames_by_part(frame).items():
        converted = converted_subject(list(by_part.values()), cell)
        parts = [part for part in Part if part in by_part]
        for part in parts:
            figures = frame_tally(by_part[part]).figures() | frame_exact(by_part[part])
            marked = coverage(figures)
            low = part == Part.SUBJECTIVE and marked.is_below(settings.REPORT_MARKED_PERCENT)
            whole = part == parts[-1] and not cell.part
            lines.append(
                SumLine(
                    asked=asked,
                    part=part.value,
                    figures=figures,
                    short=marked if low else None,
                    converted=converted.get(part.value),
                    total=converted.get("total") if whole else None,
                    people=rate_of_people(by_part[part]) if cell.rated else None,
                )
            )
    return lines


def pooled_lines(params: ReportParams, frame: pd.DataFrame, cell: Cell) -> list[SumLine]:
    """Return the sums over several conditions of one model, if *params* name them.

    Figures of AGIBench are over three prompts; no list that does not ask for that pools any.
    """
    if len(params.conditions) < 2:
        return []
    asked = frame[["model", "condition"]].drop_duplicates()
    if len(asked) < 2 or asked["model"].nunique() > 1:
        return []
    words = ngettext("%(n)d condition together", "%(n)d conditions together", len(asked))
    together = ModelCondition(str(asked["model"].iloc[0]), words % {"n": len(asked)})
    return [
        SumLine(
            asked=together,
            part=str(part),
            figures=frame_tally(own).figures() | frame_exact(own),
            short=None,
            converted=None,
            people=rate_of_people(own) if cell.rated else None,
        )
        for part, own in frame.groupby("part")
    ]


def rate_of_people(frame: pd.DataFrame) -> Figure | None:
    """Return the rate of people of the questions of *frame* with points, weighted as theirs."""
    scored = frame[(frame["n"] > 0) & frame["human"].notna()]
    if scored.empty:
        return None
    rate = float((scored["human"] * scored["full"]).sum() / scored["full"].sum())
    return Figure(rate, int(scored["question"].nunique()))


def figures_of_repeats(
    complete: Mapping[ModelCondition, Sequence[Item]],
) -> list[tuple[ModelCondition, dict[str, Figure]]]:
    """Return accuracy and repeatability over the repeats of *complete* questions."""
    return [
        (asked, accuracies(items) | repeatability(items))
        for asked, items in complete.items()
        if items and len(items[0]) > 1
    ]


def converted_subject(parts: Sequence[pd.DataFrame], cell: Cell) -> dict[str, Figure]:
    """Return the converted points of the answers of one model to one subject; {} for other rows."""
    if Cell(subject=cell.subject, part=cell.part) != cell or not parts:
        return {}
    converted = converted_of_parts(parts).rows
    return next((row.figures for row in converted if row.key["subject"] == cell.subject != ALL), {})


@require_safe
@requires(Capability.SEE_REPORTS)
def report_pairs(request: MemberRequest) -> HttpResponse:
    """Show the pairs of marks of a figure of agreement, the largest difference first."""
    params = validated(read_params(request.GET, others=PAIR | {"page"}))
    kind, subject = request.GET.get("pair", TEACHER_PAIR), request.GET.get("subject", "")
    pairs = PairsBehind(params, kind, subject)
    page = Paginator(cast(Any, pairs), PAGE).get_page(request.GET.get("page"))
    context = {"params": params, "kind": kind, "subject": subject, "page": page}
    context["groups"] = pairs.agreement()
    context["facts"] = pair_facts(page.object_list)
    count_items(request.user, "mark", [pair.response for pair in page.object_list])
    record_scope(responses_in(params, Cell()), acting_user=request.user, page="report")
    return render(request, "evaluations/reports/pairs.html", context)
