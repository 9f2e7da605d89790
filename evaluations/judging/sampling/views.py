"""Pages of samples: the list, a new one with its plan, and one with its estimates."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.judging.sampling.forms import TeachersForm, WishForm
from evaluations.judging.sampling.rules import curve_chart, hours_curve
from evaluations.judging.sampling.selectors import (
    SampleState,
    cost_of_marking,
    fitness_of,
    rows_of,
    samples,
    state_of,
    width_curve,
)
from evaluations.judging.sampling.services import (
    SampleWish,
    note_look_at_samples,
    open_sample,
    open_sample_once,
    plan_for,
    plan_sample,
    wish_of,
)
from evaluations.marking.rounds.views.round_plan import form_hash, with_new_key
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, OtherRequest


@require_safe
@requires(Capability.SEE_JUDGEMENTS)
def sample_list(request: MemberRequest) -> HttpResponse:
    """List the samples with their models; who knows the model of a round cannot mark in it."""
    found = list(samples())
    note_look_at_samples(found, acting_user=request.user, page="judgements")
    return render(request, "evaluations/judging/sampling/list.html", {"samples": found})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def new_sample(request: MemberRequest) -> HttpResponse:
    """Say what is to be known; see how many questions that needs; open the round."""
    form = WishForm(request.POST or None)
    people = TeachersForm(request.POST if "open" in request.POST else None)
    context: dict[str, Any] = {"form": form, "people": people, "plan": None}
    if request.method == "POST" and form.is_valid():
        try:
            context |= _planned(form.wish(), people, request.user)
            if "open" in request.POST and people.is_valid():
                data = people.cleaned_data
                made = open_sample_once(
                    data["key"] or uuid.uuid4(),
                    form.wish(),
                    name=data["name"],
                    teachers=list(data["teachers"]),
                    scheme=Scheme(data["scheme"]),  # type: ignore[call-arg]
                    acting_user=request.user,
                    request_hash=form_hash(request.POST),
                )
                messages.success(request, _("The sample was drawn, and its round is open."))
                return redirect("judging:sample", made.public_id)
        except OtherRequest:
            people = context["people"] = TeachersForm(with_new_key(request.POST))
            people.add_error(None, _("Another round was created from this form. Submit it again."))
        except BadInput as refusal:
            (people if "open" in request.POST else form).add_error(None, str(refusal))
    wrong = request.method == "POST" and bool(form.errors or people.errors)
    status = 400 if wrong else 200
    return render(request, "evaluations/judging/sampling/new.html", context, status=status)


def _planned(wish: SampleWish, people: TeachersForm, user: User) -> dict[str, Any]:
    """Return the plan of *wish*, with its cost and its curve."""
    plan = plan_for(wish, acting_user=user)
    given = people["scheme"].value()
    scheme = next((one for one in Scheme if one == given), Scheme.MEAN)
    fitness = fitness_of(wish.judge, wish.run) if wish.judge else None
    rows = rows_of(wish.run, wish.judge)
    correlation = fitness.correlation if fitness else 0.0
    curve = width_curve(rows, wish.streams[0], correlation)
    assumed = all(row.judge is None for row in rows)
    return {"plan": plan, "wish": wish, "fitness": fitness, "spread_assumed": assumed} | _cost(
        wish, scheme, curve, plan.size, plan.without_judge
    )


def _cost(
    wish: SampleWish,
    scheme: Scheme,
    curve: list[tuple[int, float, float]],
    size: int,
    without: int,
) -> dict[str, Any]:
    """Return the hours and the price of a plan, and the chart of widths over hours."""
    cost = cost_of_marking(wish.run, wish.judge)
    marks = scheme.planned_marks
    labels = (_("Teachers alone"), _("With the judge model"))
    lines = hours_curve(curve, [cost.hours(marks * n) for n, *_widths in curve])
    if wish.judge is None:
        lines = lines[:1]
    chart = curve_chart(lines, labels, _("Teachers' hours"), _("± points of 750"))
    return {
        "judge": wish.judge,
        "cost": cost,
        "hours": cost.hours(marks * size),
        "hours_saved": cost.hours(marks * (without - size)),
        "chart": chart,
    }


@require_safe
@requires(Capability.SEE_JUDGEMENTS)
def sample_page(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Show how far a sample is, and what it says of the totals."""
    sample = get_object_or_404(samples(), public_id=public_id)
    return _shown(request, state_of(sample))


def _shown(
    request: MemberRequest,
    state: SampleState,
    people: TeachersForm | None = None,
    status: int = 200,
) -> HttpResponse:
    """Return the page of a sample, and note who saw its totals: they cannot mark its next part."""
    note_look_at_samples([state.sample], acting_user=request.user, page="judgements")
    context = _context(request, state, people)
    return render(request, "evaluations/judging/sampling/sample.html", context, status=status)


def _context(
    request: MemberRequest, state: SampleState, people: TeachersForm | None
) -> dict[str, Any]:
    sample = state.sample
    wish = wish_of(sample)
    plan = plan_sample(wish, state)
    context: dict[str, Any] = {"sample": sample, "state": state, "next": plan}
    scheme = Scheme(sample.round.scheme)  # type: ignore[call-arg]
    correlation = state.fitness.correlation if state.fitness else 0.0
    curve = width_curve(state.rows, wish.streams[0], correlation)
    size = max(plan.size, state.drawn)
    context |= _cost(wish, scheme, curve, size, max(plan.without_judge, size))
    if plan.next and request.user.may(Capability.LEAD_ROUNDS):
        context["people"] = people or TeachersForm()
    return context


@require_POST
@requires(Capability.LEAD_ROUNDS)
def next_sample(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Draw the questions that are still needed, and open a round for them."""
    sample = get_object_or_404(samples(), public_id=public_id)
    people = TeachersForm(request.POST)
    state = state_of(sample)
    if people.is_valid():
        data = people.cleaned_data
        try:
            open_sample(
                wish_of(sample),
                name=data["name"],
                teachers=list(data["teachers"]),
                scheme=Scheme(data["scheme"]),  # type: ignore[call-arg]
                acting_user=request.user,
                follows=state.parts[-1],
            )
        except BadInput as refusal:
            people.add_error(None, str(refusal))
        else:
            messages.success(request, _("The sample was drawn, and its round is open."))
            return redirect("judging:sample", sample.public_id)
    return _shown(request, state, people, status=400)
