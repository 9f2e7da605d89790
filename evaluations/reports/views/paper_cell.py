"""The page of a cell of a paper that combines several lists of answers: each with its sum."""

from __future__ import annotations

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_scope
from evaluations.facts.params import ReportParams, validated
from evaluations.reports.forms import PAPER, read_params
from evaluations.reports.rules.paper_behind import Behind, Made, behind
from evaluations.reports.rules.paper_page import column_of, figure_text
from evaluations.reports.rules.published_tables import CellName, PublishedPaper
from evaluations.reports.selectors.paper_cell import cell_sums
from evaluations.reports.selectors.paper_tables import known_paper
from evaluations.reports.selectors.rows_behind import Cell, responses_in
from evaluations.statistics.figure import Figure, missing
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput
from questions.rules.vocabulary import Part

NAME = frozenset({"table", "row", "column"})
OF_LISTS = (Made.TOTAL, Made.MEAN, Made.DIFFERENCE)


@require_safe
@requires(Capability.SEE_REPORTS)
def paper_cell(request: MemberRequest) -> HttpResponse:
    """Show the lists that a cell is made from, each with its sum, and what they make."""
    params = validated(read_params(request.GET, others=PAPER | NAME))
    paper = known_paper(params.paper)
    name = CellName(*(request.GET.get(one, "") for one in CellName._fields))
    made = _made(paper, name, params)
    sums = cell_sums(replace(params, paper=""), made)  # the lists are of no paper
    scope = responses_in(params, Cell())
    if not any(part.query.get("part") == Part.SUBJECTIVE for part in made.parts):
        scope = scope.filter(question__part=Part.OBJECTIVE)
    record_scope(scope, acting_user=request.user, page="report")
    table = paper.table(name.table)
    column = column_of(table, name.column)
    # The sides of a difference are per cents, whatever the unit of the difference.
    of_side = None if made.made is Made.DIFFERENCE else column
    context = {
        "params": params,
        "paper": paper,
        "table": table,
        "name": name,
        "made": made,
        "sums": sums,
        "sides": [(own, figure_text(_figure(value), of_side)) for own, value in sums.sides],
        "value": figure_text(_figure(sums.value), column),
    }
    return render(request, "evaluations/reports/paper_cell.html", context)


def _made(paper: PublishedPaper, name: CellName, params: ReportParams) -> Behind:
    """Return what the cell is made from. Raises BadInput unless these are several lists."""
    try:
        made = behind(paper, name)
    except (KeyError, ValueError):
        made = None
    known = {table.id for table in paper.tables}
    if made is None or made.made not in OF_LISTS or name.table not in known:
        raise BadInput(_("No figure of the paper with several lists of answers has this name."))
    if len(params.models) != 1 or len(params.conditions) != (2 if made.conditions_apart else 1):
        raise BadInput(_("Name the model and the conditions that the figure is from."))
    return made


def _figure(value: float | None) -> Figure:
    return missing("no_data") if value is None else Figure(value, 0)
