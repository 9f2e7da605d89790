"""What a lead does with a round: start it, pause it, give it time and teachers, close it."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from evaluations.marking.rounds.forms.round_life import DeadlineForm, MoreTeachersForm
from evaluations.marking.rounds.selectors.rounds import marks_in
from evaluations.marking.rounds.selectors.seed_answers import waiting_seeds
from evaluations.marking.rounds.services import rounds as services
from evaluations.marking.rounds.views.rounds import round_to_change, show_round
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput


@require_POST
@requires(Capability.LEAD_ROUNDS)
def start(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Let the teachers begin; with seed answers that nobody has marked yet, ask first.

    Who is to mark in the round is always asked, as they may not know whether there are any.
    """
    marking_round = round_to_change(request.user, round_id)
    is_planned = marking_round.status == RoundStatus.PLANNED
    asks = marks_in(marking_round, request.user) or waiting_seeds(marking_round).exists()
    if is_planned and asks and "anyway" not in request.POST:
        return redirect(f"{reverse('rounds:round', args=[round_id])}?start")
    services.start_round(marking_round, acting_user=request.user)
    messages.success(request, _("The round has started. Teachers can begin marking."))
    return redirect("rounds:round", round_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def pause(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Give nothing out for a while."""
    services.pause_round(round_to_change(request.user, round_id), acting_user=request.user)
    messages.success(request, _("The round is paused. Drafts of teachers are kept."))
    return redirect("rounds:round", round_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def resume(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Go on."""
    services.resume_round(round_to_change(request.user, round_id), acting_user=request.user)
    messages.success(request, _("The round was resumed."))
    return redirect("rounds:round", round_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def close(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Close the round for good; the page of a plan only discards it."""
    marking_round = round_to_change(request.user, round_id)
    said = request.POST.get("without_final", "")
    services.close_round(
        marking_round,
        acting_user=request.user,
        now=timezone.now(),
        only_planned="begun" not in request.POST,
        shown=int(said) if said.isascii() and said.isdigit() and len(said) < 10 else None,
    )
    messages.success(request, _("The round is closed. Its marks and drafts are kept."))
    return redirect("rounds:round", round_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def deadline(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Set the deadline, or take it away."""
    marking_round = round_to_change(request.user, round_id)
    form = DeadlineForm(request.POST)
    if not form.is_valid():
        return show_round(request, marking_round, {"deadline_form": form}, 400)
    until = form.cleaned_data["deadline"]
    try:
        services.set_deadline(marking_round, until, acting_user=request.user, now=timezone.now())
    except BadInput as refusal:
        form.add_error("deadline", str(refusal))
        return show_round(request, marking_round, {"deadline_form": form}, refusal.status)
    said = _("The deadline was set.") if until else _("The deadline was removed.")
    messages.success(request, said)
    return redirect("rounds:round", round_id)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def teachers(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Take more teachers into the pool."""
    marking_round = round_to_change(request.user, round_id)
    form = MoreTeachersForm(marking_round, request.POST)
    if not form.is_valid():
        return show_round(request, marking_round, {"teachers_form": form}, 400)
    people = list(form.cleaned_data["teachers"])
    try:
        moved = services.add_teachers(marking_round, people, acting_user=request.user)
    except BadInput as refusal:
        form.add_error("teachers", str(refusal))
        return show_round(request, marking_round, {"teachers_form": form}, refusal.status)
    said = ngettext(
        "Teachers were added; %(number)s mark was reassigned to them.",
        "Teachers were added; %(number)s marks were reassigned to them.",
        moved,
    )
    messages.success(request, said % {"number": moved})
    return redirect("rounds:round", round_id)
