"""The tolerance simulator: what other tolerances would cost on the marks so far."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_view
from evaluations.marking.monitoring.forms import ToleranceForm
from evaluations.marking.monitoring.rules.charts import cost_lines
from evaluations.marking.monitoring.rules.tolerance_simulator import (
    MarkedTwice,
    Outcome,
    Setting,
    beyond,
    grid,
    simulate,
)
from evaluations.marking.monitoring.selectors.tolerance_simulator import (
    marked_twice,
    names_of,
    tasks_of,
)
from evaluations.marking.monitoring.views.monitoring import FOLDER
from evaluations.marking.rounds.views.rounds import visible_round
from evaluations.models import MarkingRound
from evaluations.schemes import Scheme
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.plain_number import plain
from questions.templatetags.names import task_name

PAGE = 50
# The columns of the table by task, where they are in the grid.
PERCENTS = tuple(Decimal(percent) for percent in ("5", "10", "15", "20", "30"))
POINTS = tuple(Decimal(points) for points in ("0.5", "1", "2", "3", "5"))


@dataclass(frozen=True, slots=True)
class Line:
    """One setting of the table: its value on the scale of the page (None: the round's own)."""

    value: Decimal | None
    outcome: Outcome
    chosen: bool = False


@require_safe
@requires(Capability.LEAD_ROUNDS)
def simulator(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Third marks and final marks by tolerance; the responses beyond a chosen one."""
    marking_round = visible_round(request.user, round_id)
    record_view(marking_round, acting_user=request.user, page="tolerance")
    tasks = [(slug, str(task_name(slug))) for slug in tasks_of(marking_round)]
    form = ToleranceForm(request.GET, marking_round, tasks)
    everything = marked_twice(marking_round)
    wanted = [one for one in everything if form.wanted_task in ("", one.task)]
    settings = _settings(form, marking_round, wanted)
    scheme = Scheme(marking_round.scheme)
    chosen = _chosen(request.GET.get("at", ""), settings, form)
    lines = [
        Line(_value(setting, form), simulate(wanted, scheme, setting), setting is chosen)
        for setting in settings
    ]
    far = beyond(wanted, chosen)
    page = Paginator(far, PAGE).get_page(request.GET.get("page"))
    count_items(request.user, "mark", (f"blind {one.answer}" for one in page.object_list))
    context: dict[str, Any] = {
        "round": marking_round,
        "form": form,
        "tasks": tasks,
        "pairs": len(wanted),
        "lines": lines,
        "chosen": next(line for line in lines if line.chosen),
        "by_task": _by_task(everything, form, marking_round, scheme),
        "columns": POINTS if form.in_points else PERCENTS,
        "page": page,
        "rows": _rows(page.object_list, chosen),
        "to_lead": scheme is Scheme.TWO_AND_LEAD,
        "replayed": scheme in (Scheme.MEAN, Scheme.SINGLE),
        "chart": _chart(lines, form, marking_round),
    }
    return render(request, f"{FOLDER}/tolerance.html", context)


def _settings(
    form: ToleranceForm, marking_round: MarkingRound, wanted: Sequence[MarkedTwice]
) -> list[Setting]:
    """The round's own tolerance first, then the grid."""
    most = max((one.full for one in wanted), default=Decimal(0))
    tried = grid(form.in_points, least=form.least_points, step=marking_round.mark_step, full=most)
    return [Setting(own=True), *tried]


def _value(setting: Setting, form: ToleranceForm) -> Decimal | None:
    if setting.own:
        return None
    return setting.points if form.in_points else 100 * setting.share


def _chosen(asked: str, settings: Sequence[Setting], form: ToleranceForm) -> Setting:
    """The setting whose responses are listed: as asked, else the round's own."""
    for setting in settings[1:]:
        if asked and plain(_value(setting, form) or Decimal(0)) == asked:
            return setting
    return settings[0]


def _by_task(
    everything: Sequence[MarkedTwice],
    form: ToleranceForm,
    marking_round: MarkingRound,
    scheme: Scheme,
) -> list[dict[str, Any]]:
    """Each task with its outcomes under the round's tolerance and a few others."""
    groups: dict[str, list[MarkedTwice]] = defaultdict(list)
    for one in everything:
        groups[one.task].append(one)
    step, least = marking_round.mark_step, form.least_points
    tried = [Setting(own=True)] + (
        [Setting(points=points, step=step) for points in POINTS]
        if form.in_points
        else [Setting(share=percent / 100, points=least, step=step) for percent in PERCENTS]
    )
    return [
        {"task": task, "outcomes": [simulate(group, scheme, setting) for setting in tried]}
        for task, group in sorted(groups.items())
    ]


def _rows(responses: Sequence[MarkedTwice], setting: Setting) -> list[dict[str, Any]]:
    names = names_of([one.answer for one in responses])
    return [
        {"name": names[one.answer], "marks": one, "tolerance": setting.of(one)} for one in responses
    ]


def _chart(lines: Sequence[Line], form: ToleranceForm, marking_round: MarkingRound) -> Any:
    """Third marks, and those of them that went on to the lead where that is known, by tolerance."""
    tried = [(float(line.value), line.outcome) for line in lines if line.value is not None]
    series = {
        _("Third marks"): [(x, o.beyond / o.pairs, o.pairs) for x, o in tried if o.pairs],
    }
    x_label = _("Tolerance, points") if form.in_points else _("Tolerance, % of full marks")
    own = marking_round.tolerance_points if form.in_points else 100 * marking_round.tolerance_share
    return cost_lines(series, x_label, _("Share of the responses, %"), float(own))
