"""Monitors of a round for its leads: everybody side by side, one teacher, and what to do."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluations.facts.looks import record_view
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.monitoring.forms import LimitsForm, PauseForm
from evaluations.marking.monitoring.rules.charts import rolling_lines, severity_dots
from evaluations.marking.monitoring.rules.figures import against, line, teacher_figures
from evaluations.marking.monitoring.rules.limits import limits_code
from evaluations.marking.monitoring.selectors import monitoring
from evaluations.marking.monitoring.selectors.new_rubric import outdated_rubrics
from evaluations.marking.monitoring.selectors.teacher_marks import (
    MarkFilter,
    mark_rows,
    marks_shown,
)
from evaluations.marking.monitoring.services.monitoring import (
    note_figures_taken,
    pause_teacher,
    resume_teacher,
    set_limits,
)
from evaluations.marking.rounds.selectors import rounds
from evaluations.marking.rounds.services.rounds import round_is_closed
from evaluations.marking.rounds.views.rounds import round_to_change, visible_round
from evaluations.models import MarkingRound
from evaluations.models.vocabulary import LIVE, RoundStatus
from evaluations.statistics.columns import report_table
from gradeapp.accounts.confirmation import confirmed
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.csv_file import manifest, sha256
from gradeapp.common.csv_file import render as render_csv
from gradeapp.common.refusals import BadInput, Conflict, NotFound, Refusal

PAGE = 50
RECENT = 50
FOLDER = "evaluations/marking/monitoring"
# The figures of a teacher's page: name, style of the number, and the marks behind it.
FIGURES = (
    ("marks", "count", MarkFilter.COUNTING),
    ("seconds_median", "seconds", MarkFilter.TIMED),
    ("seconds_mean", "seconds", MarkFilter.TIMED),
    ("pace", "ratio", MarkFilter.TIMED),
    ("partner_points", "difference", MarkFilter.PAIRS),
    ("partner_share", "of_full_marks", MarkFilter.PAIRS),
    ("final_points", "difference", MarkFilter.FINAL),
    ("severity", "of_full_marks", MarkFilter.FINAL),
    ("within_tolerance", "rate", MarkFilter.PAIRS),
    ("third_rate", "rate", MarkFilter.PAIRS),
    ("seed_hits", "rate", MarkFilter.SEEDS),
    ("self_consistency", "rate", MarkFilter.REPEATS),
    ("safe_share", "rate", MarkFilter.COUNTING),
    ("safe_excess", "rate_difference", MarkFilter.SAFE),
)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def round_monitor(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """The whole round: how far it is, when it may end, and every teacher beside the others."""
    return _show_round(request, visible_round(request.user, round_id))


def _show_round(
    request: MemberRequest,
    marking_round: MarkingRound,
    typed: QueryDict | None = None,
    refusal: Refusal | None = None,
) -> HttpResponse:
    """The monitors of the round; the limits that were *typed* and refused stand in their form."""
    record_view(marking_round, acting_user=request.user, page="monitoring")
    watched = monitoring.watched_round(marking_round)
    progress = rounds.round_progress(marking_round)
    due = progress.marks_due - progress.marks
    is_open = marking_round.status == RoundStatus.OPEN
    limits_form, code = LimitsForm(watched.limits, typed), limits_code(marking_round.limits)
    if typed is not None and not isinstance(refusal, Conflict):
        code = typed.get("seen", "")  # what others have set since is still to be shown
    if refusal:
        limits_form.add_error(None, str(refusal))
        limits_form.show_stored()
    end = monitoring.expected_end(marking_round, due, timezone.now()) if is_open else None
    context: dict[str, Any] = {
        "round": marking_round,
        "is_open": is_open,
        "progress": progress,
        "end": end,
        "late": bool(end and marking_round.deadline and end > marking_round.deadline),
        "watched": watched,
        "limits_form": limits_form,
        "limits_code": code,
        "outdated": 0 if marking_round.published else len(outdated_rubrics(marking_round)),
        **_round_charts(watched),
    }
    status = 200 if typed is None else refusal.status if refusal else 400
    return render(request, f"{FOLDER}/round.html", context, status=status)


def _round_charts(watched: monitoring.WatchedRound) -> dict[str, Any]:
    severity = watched.limits.get("severity")
    near = watched.limits.get("within_tolerance")
    agreement = {one.name: line(one.marks, "within_tolerance") for one in watched.teachers}
    colours = watched.colours
    return {
        "severity": severity_dots(
            {one.name: one.figures["severity"] for one in watched.teachers},
            _("Own mark minus final mark, % of full marks"),
            float(severity.value) if severity else None,
            colours,
        ),
        "agreement": rolling_lines(
            agreement,
            _("Marks given"),
            _("Within the tolerance, %"),
            limits=[float(near.value)] if near else [],
            colours=colours,
        ),
    }


@require_safe
@requires(Capability.LEAD_ROUNDS)
def teacher_monitor(request: MemberRequest, round_id: UUID, teacher_id: UUID) -> HttpResponse:
    """One teacher: every figure over all marks and the last 50, over time, and the marks."""
    return _show_teacher(request, visible_round(request.user, round_id), teacher_id, PauseForm())


def _show_teacher(
    request: MemberRequest,
    marking_round: MarkingRound,
    teacher_id: UUID,
    pause_form: PauseForm,
    status: int = 200,
) -> HttpResponse:
    """The page of one teacher, with a *pause_form* that may have been refused."""
    if pause_form.is_bound and marking_round.status == RoundStatus.CLOSED:
        raise round_is_closed()  # the page has no such form any more
    watched = monitoring.watched_round(marking_round)
    teacher = watched_teacher(watched, teacher_id)
    record_view(marking_round, acting_user=request.user, page=f"monitoring of {teacher.name}")
    asked = request.GET.get("show", "")
    wanted = MarkFilter(asked) if asked in list(MarkFilter) else MarkFilter.ALL
    page = Paginator(marks_shown(teacher, marking_round, wanted), PAGE).get_page(
        request.GET.get("page")
    )
    count_items(request.user, "mark", (f"version {one.mark}" for one in page.object_list))
    language = get_language() or "en"
    context: dict[str, Any] = {
        "round": marking_round,
        "is_open": marking_round.status != RoundStatus.CLOSED,
        "is_live": marking_round.status in LIVE,
        "teacher": teacher,
        "figures": _figure_rows(teacher, watched),
        "pause_form": pause_form,
        "filters": [{"value": f.value, "label": f.label(language)} for f in MarkFilter],
        "show": wanted.value,
        "page": page,
        "rows": mark_rows(page.object_list),
        **_teacher_charts(teacher, watched),
    }
    return render(request, f"{FOLDER}/teacher.html", context, status=status)


def _figure_rows(
    teacher: monitoring.WatchedTeacher, watched: monitoring.WatchedRound
) -> list[dict[str, Any]]:
    """Each figure of the teacher beside that of the last 50 marks, the round's and its limit."""
    recent = teacher_figures(teacher.marks[-RECENT:])
    recent |= against(recent, watched.figures)
    return [
        {
            "name": name,
            "kind": kind,
            "value": teacher.figures[name],
            "recent": recent[name],
            "of_round": watched.figures.get(name),
            "limit": watched.limits.get(name),
            "warned": name in teacher.warnings,
            "show": shows.value,
        }
        for name, kind, shows in FIGURES
    ]


def _teacher_charts(
    teacher: monitoring.WatchedTeacher, watched: monitoring.WatchedRound
) -> dict[str, Any]:
    severity = watched.limits.get("severity")
    ends = [-float(severity.value), float(severity.value)] if severity else []
    shares = {
        _("Within the tolerance"): line(teacher.marks, "within_tolerance"),
        _("Seed answers hit"): line(teacher.marks, "seed_hits"),
        _("Safe marks"): line(teacher.marks, "safe_share"),
    }
    drift = {_("Severity"): line(teacher.marks, "severity")}
    x_label = _("Marks given")
    return {
        "shares": rolling_lines(shares, x_label, _("Share of the last 50, %")),
        "drift": rolling_lines(
            drift, x_label, _("Severity, % of full marks"), limits=ends, shares=False
        ),
    }


@require_POST
@requires(Capability.LEAD_ROUNDS)
def pause(request: MemberRequest, round_id: UUID, teacher_id: UUID) -> HttpResponse:
    """Give a teacher nothing more until the lead says so."""
    marking_round = round_to_change(request.user, round_id)
    teacher = teacher_called(teacher_id)
    form = PauseForm(request.POST)
    if not form.is_valid():
        return _show_teacher(request, marking_round, teacher_id, form, 400)
    given = form.cleaned_data | {"acting_user": request.user, "now": timezone.now()}
    try:
        pause_teacher(marking_round, teacher, **given)
    except (BadInput, Conflict) as refusal:
        form.add_error("reason", str(refusal))
        return _show_teacher(request, marking_round, teacher_id, form, refusal.status)
    messages.success(request, _("%(name)s is paused.") % {"name": teacher})
    return redirect("monitoring:teacher", round_id, teacher_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def resume(request: MemberRequest, round_id: UUID, teacher_id: UUID) -> HttpResponse:
    """Let a paused teacher go on."""
    marking_round = round_to_change(request.user, round_id)
    teacher = teacher_called(teacher_id)
    resume_teacher(marking_round, teacher, acting_user=request.user)
    messages.success(request, _("%(name)s can mark again.") % {"name": teacher})
    return redirect("monitoring:teacher", round_id, teacher_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def remove(request: MemberRequest, round_id: UUID, teacher_id: UUID) -> HttpResponse:
    """Take a teacher out of the round for good."""
    marking_round = round_to_change(request.user, round_id)
    teacher = teacher_called(teacher_id)
    take_out(marking_round, teacher, acting_user=request.user, now=timezone.now())
    messages.success(request, _("%(name)s was taken out of the round.") % {"name": teacher})
    return redirect("monitoring:round", round_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def limits(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Set what the lead is warned beyond."""
    marking_round = round_to_change(request.user, round_id)
    form = LimitsForm({}, request.POST)
    if not form.is_valid():
        return _show_round(request, marking_round, request.POST)
    seen = request.POST.get("seen", "")
    try:
        set_limits(marking_round, form.limits(), seen=seen, acting_user=request.user)
    except (BadInput, Conflict) as refusal:
        marking_round.refresh_from_db()
        return _show_round(request, marking_round, request.POST, refusal)
    messages.success(request, _("The limits were set."))
    return redirect("monitoring:round", round_id)


@require_safe
@requires(Capability.LEAD_ROUNDS)
@confirmed
def export(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """The teachers' figures as CSV; who took them is kept."""
    marking_round = visible_round(request.user, round_id)
    report = monitoring.monitoring_report(marking_round, monitoring.watched_round(marking_round))
    table = report_table(report)
    content = render_csv(table)
    made = manifest(len(table.rows), sha256(content), report.params)
    note_figures_taken(marking_round, made, acting_user=request.user)
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{_file_name(marking_round)}"'
    return response


def _file_name(marking_round: MarkingRound) -> str:
    return f"{marking_round.dataset.slug}-round-{marking_round.pk}-monitoring.csv"


def watched_teacher(
    watched: monitoring.WatchedRound, teacher_id: UUID
) -> monitoring.WatchedTeacher:
    """The teacher of the round with this public id."""
    for teacher in watched.teachers:
        if teacher.public_id == teacher_id:
            return teacher
    raise NotFound(_("There is no such teacher in this round."))


def teacher_called(teacher_id: UUID) -> User:
    """The person with this public id; the service looks whether they are in the round."""
    teacher = User.objects.filter(public_id=teacher_id).first()
    if teacher is None:
        raise NotFound(_("There is no such teacher in this round."))
    return teacher
