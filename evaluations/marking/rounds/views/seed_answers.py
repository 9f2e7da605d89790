"""The seed answers of a round: a list for its lead, and one to be given its reference mark."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from evaluations.facts.looks import record_view
from evaluations.marking.desk.forms.marks import typed_before
from evaluations.marking.desk.services.same_rubric import RUBRIC_CHANGED, check_rubric
from evaluations.marking.rounds.forms.round_life import ReferenceForm
from evaluations.marking.rounds.selectors.rounds import marks_in
from evaluations.marking.rounds.selectors.seed_answers import (
    seed_called,
    seed_case,
    seeds_of,
    waiting_seeds,
)
from evaluations.marking.rounds.services.seed_answers import premark
from evaluations.marking.rounds.views.rounds import visible_round
from evaluations.models import MarkingRound
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed, NotFound


@require_safe
@requires(Capability.LEAD_ROUNDS)
def seed_list(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Every seed answer with its source and its reference mark."""
    marking_round = _round(request, round_id)
    record_view(marking_round, acting_user=request.user, page="seeds")
    waiting = waiting_seeds(marking_round).first()
    context = {
        "round": marking_round,
        "seeds": seeds_of(marking_round),
        "waiting": waiting if marking_round.status != RoundStatus.CLOSED else None,
        "is_planned": marking_round.status == RoundStatus.PLANNED,
        "is_closed": marking_round.status == RoundStatus.CLOSED,
    }
    return render(request, "evaluations/marking/rounds/seeds.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def seed(request: MemberRequest, round_id: UUID, answer_id: UUID) -> HttpResponse:
    """One seed answer, to be given its reference mark; then the next one that has none."""
    marking_round = _round(request, round_id)
    answer = seed_called(marking_round, answer_id)
    if answer is None:  # that it is none tells of it too
        record_view(marking_round, acting_user=request.user, page="seeds")
        raise NotFound(_("There is no such seed answer."))
    record_view(marking_round, acting_user=request.user, page=answer.alias)
    form, context = ReferenceForm(seed_case(answer), request.POST or None), dict[str, Any]()
    if request.method == "POST":
        try:
            check_rubric(answer, request.POST.get("rubric", ""))  # its points may be fewer
            if form.is_valid():
                premark(answer, request.user, **form.as_mark())
                return _next(request, marking_round)
        except BadInput as refusal:
            form.add_error(None, str(refusal))
        except Conflict as refusal:
            if refusal.code != RUBRIC_CHANGED:
                raise
            form = ReferenceForm(seed_case(answer))
            context = {"refusal": refusal, "earlier": typed_before(request.POST)}
    waiting = waiting_seeds(marking_round).count()
    context |= {"round": marking_round, "case": form.case, "form": form, "waiting": waiting}
    status = 409 if "refusal" in context else 400 if form.is_bound else 200
    return render(request, "evaluations/marking/rounds/seed.html", context, status=status)


def _next(request: MemberRequest, marking_round: MarkingRound) -> HttpResponse:
    following = waiting_seeds(marking_round).first()
    if following is not None:
        return redirect("rounds:seed", marking_round.public_id, following.public_id)
    messages.success(request, _("Every seed answer has its reference mark."))
    return redirect("rounds:round", marking_round.public_id)


def _round(request: MemberRequest, round_id: UUID) -> MarkingRound:
    """The round; to who marks in it, its seed answers stay hidden from the plan on."""
    marking_round = visible_round(request.user, round_id)
    if marking_round.status != RoundStatus.CLOSED and marks_in(marking_round, request.user):
        raise NotAllowed(
            _("You are marking in this round, so its seed answers are hidden from you.")
        )
    return marking_round
