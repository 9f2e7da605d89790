"""The answers and the pairs of marks behind a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_scope
from evaluations.facts.pairs import TEACHER_PAIR
from evaluations.facts.params import TEACHERS, ReportParams, validated
from evaluations.reports.forms import CELL, PAIR, read_cell, read_params
from evaluations.reports.selectors.report_pages import (
    PairsBehind,
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
from evaluations.reports.views.cut_words import cut_names
from evaluations.statistics.accuracy import converted_of_parts, frame_exact
from evaluations.statistics.coverage import Coverage, coverage
from evaluations.statistics.figure import Figure
from evaluations.statistics.repeats import Item, accuracies, repeatability
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL, frame_tally
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from questions.rules.vocabulary import Part

if TYPE_CHECKING:
    import pandas as pd

PAGE = 50


@require_safe
@requires(Capability.SEE_REPORTS)
def report_rows(request: MemberRequest) -> HttpResponse:
    """Show the answers of one figure, and their sums."""
    params = validated(read_params(request.GET, others=CELL | {"page"}))
    params = replace(params, marker=params.marker or TEACHERS)  # whose marks the rows are
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
    context["facts"] = row_facts(params, page.object_list)
    context["has_finals"] = not params.is_judge and cell.part != Part.OBJECTIVE
    context["may_see_marks"] = request.user.may(Capability.LEAD_ROUNDS)
    context["cut"] = cut_names(cell.cut)
    count_items(request.user, "mark", (row.response for row in page.object_list))
    # Figures of repeats are about all questions of the runs.
    scope = responses_in(params, Cell() if cell.complete else cell)
    if cell.part == Part.OBJECTIVE and not cell.complete:  # what people marked while it was not
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
