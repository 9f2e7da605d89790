"""Rounds for leads: the list, a new one, one round with its responses, closing it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.forms.rounds import RoundForm
from evaluations.models import MarkingRound
from evaluations.models.vocabulary import RoundStatus
from evaluations.rules.marking.scheme import Scheme
from evaluations.selectors import rounds
from evaluations.selectors.round_choice import chosen_responses, load_of
from evaluations.services.rounds import (
    close_round,
    look_at_round,
    open_round,
    too_few_teachers,
)
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.refusals import BadInput, NotAllowed, NotFound

PAGE = 50
# Where a refusal of a new round stands, if it belongs to one field.
FIELD_OF = {"too_few_teachers": "scheme"}


@require_safe
@requires(Capability.LEAD_ROUNDS)
def round_list(request: MemberRequest) -> HttpResponse:
    """All rounds with their progress."""
    page = Paginator(rounds.round_list(), PAGE).get_page(request.GET.get("page"))
    return render(request, "evaluations/rounds/list.html", {"page": page})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def new_round(request: MemberRequest) -> HttpResponse:
    """Choose responses and teachers; see the load of each teacher; open the round."""
    form = RoundForm(request.POST or None)
    wants_load = "preview" in request.POST
    if request.method == "POST" and not wants_load and form.is_valid():
        try:
            made = open_round(**form.settings(), acting_user=request.user)
        except BadInput as refusal:
            form.add_error(FIELD_OF.get(refusal.code), str(refusal))
        else:
            messages.success(request, _("The round is open; its teachers can start."))
            return redirect("rounds:round", made.public_id)
    context = {"form": form, "load": _load(form) if wants_load else None}
    if wants_load and request.htmx:
        return render(request, "evaluations/rounds/_load.html", context)
    status = 400 if form.is_bound and form.errors and not wants_load else 200
    return render(request, "evaluations/rounds/new.html", context, status=status)


@require_safe
@requires(Capability.LEAD_ROUNDS)
def round_page(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """One round: progress, teachers and every response with its marks."""
    marking_round = visible_round(request.user, round_id)
    look_at_round(marking_round, acting_user=request.user, page="round")
    state = request.GET.get("state", "")
    answers = rounds.answers_by_state(marking_round)
    if state:
        answers = answers.filter(state=state)
    page = Paginator(answers, PAGE).get_page(request.GET.get("page"))
    counts = rounds.state_counts(marking_round)
    context: dict[str, Any] = {
        "round": marking_round,
        "progress": rounds.round_progress(marking_round),
        "tabs": _tabs(counts),
        "unsettled": sum(counts.values()) - counts[rounds.AnswerState.FINAL],
        "state": state,
        "page": page,
        "rows": rounds.answer_rows(list(page)),
        "loads": rounds.teacher_loads(marking_round),
        "models": rounds.models_in(marking_round),
        "is_open": marking_round.status == RoundStatus.OPEN,
    }
    return render(request, "evaluations/rounds/round.html", context)


@require_POST
@requires(Capability.LEAD_ROUNDS)
def close(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Close the round for good."""
    marking_round = visible_round(request.user, round_id)
    close_round(marking_round, acting_user=request.user, now=timezone.now())
    messages.success(request, _("The round is closed. Its marks and drafts are kept."))
    return redirect("rounds:round", round_id)


def visible_round(person: User, round_id: UUID) -> MarkingRound:
    """The round, unless there is none or *person* still marks in it."""
    marking_round = rounds.round_called(round_id)
    if marking_round is None:
        raise NotFound(_("There is no such round."))
    if marking_round.status == RoundStatus.OPEN and rounds.marks_in(marking_round, person):
        raise NotAllowed(
            _("You mark in this round, so its marks stay hidden from you until it is closed.")
        )
    return marking_round


def _tabs(counts: dict[str, int]) -> list[dict[str, object]]:
    """The states that some response is in, with how many are."""
    language = get_language() or "en"
    return [
        {"value": state.value, "label": state.label(language), "count": counts[state]}
        for state in rounds.AnswerState
        if counts[state]
    ]


def _load(form: RoundForm) -> object:
    """What falls to each teacher, as far as the form says it, and whether they are too few.

    There are no counts until runs are chosen.
    """
    form.is_valid()
    data = form.cleaned_data
    teachers = len(data.get("teachers") or ())
    scheme = Scheme(data["scheme"]) if data.get("scheme") else Scheme.MEAN
    load: dict[str, object] = {
        "teachers": teachers,
        "too_few": too_few_teachers(teachers, scheme) if teachers else "",
        "third": scheme.most_marks > scheme.planned_marks,
    }
    if data.get("runs") and "random_seed" in data and "per_task" in data:
        responses = chosen_responses(form.choice(), data["random_seed"])
        load["counts"] = load_of(responses, teachers or 1, scheme)
    return load
