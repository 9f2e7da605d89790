"""One response of a round for its lead: all marks side by side, and the decision."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.http import push_url

from evaluations.forms.rounds import DecisionForm
from evaluations.models import BlindAnswer, MarkingRound
from evaluations.models.vocabulary import ArbitrationReason
from evaluations.selectors.arbitration import (
    DisputedCase,
    answer_called,
    case_of,
    queue_around,
    waiting_for,
)
from evaluations.selectors.history import changes_of
from evaluations.services.arbitration import arbitrate
from evaluations.services.rounds import look_at_round
from evaluations.views.rounds import visible_round
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.refusals import BadInput, NotFound

FOLDER = "evaluations/arbitration"
REASON_KEYS = {
    ArbitrationReason.RUBRIC_SILENT: "b",
    ArbitrationReason.SLIP: "l",
    ArbitrationReason.GENEROUS: "g",
    ArbitrationReason.STRICT: "t",
    ArbitrationReason.KEY_WRONG: "w",
}


@require_safe
@requires(Capability.LEAD_ROUNDS)
def queue(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """The response that waits longest; a page that says so when none does."""
    marking_round = visible_round(request.user, round_id)
    first = waiting_for(request.user, marking_round).first()
    if first is not None:
        return redirect("rounds:response", round_id, first.public_id)
    return render(request, f"{FOLDER}/done.html", {"round": marking_round})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def response_page(request: MemberRequest, round_id: UUID, answer_id: UUID) -> HttpResponse:
    """All marks of one response; a POST settles it and shows the next one."""
    marking_round = visible_round(request.user, round_id)
    answer = answer_called(marking_round, answer_id)
    if answer is None:
        raise NotFound(_("There is no such response in this round."))
    if request.method == "POST":
        return _settle(request, marking_round, answer)
    return _show(request, marking_round, answer)


def _settle(
    request: MemberRequest, marking_round: MarkingRound, answer: BlindAnswer
) -> HttpResponse:
    case = case_of(answer, request.user)
    following = queue_around(request.user, marking_round, answer.public_id).following
    form = DecisionForm(case, request.POST)
    try:
        if not form.is_valid():
            raise BadInput(form.first_error())
        arbitrate(answer, request.user, **form.as_decision(), now=timezone.now())
    except BadInput as refusal:
        if request.htmx:
            raise
        return _show(request, marking_round, answer, refusal)
    if not request.htmx:
        messages.success(request, _("%(alias)s is settled.") % {"alias": answer.alias})
    return _show_following(request, marking_round, following)


def _show_following(
    request: MemberRequest, marking_round: MarkingRound, following: UUID | None
) -> HttpResponse:
    """The response after the settled one, or the first that still waits, or the end."""
    if following is None:
        first = waiting_for(request.user, marking_round).first()
        following = first.public_id if first else None
    if following is None:
        address = reverse("rounds:arbitration", args=[marking_round.public_id])
    else:
        address = reverse("rounds:response", args=[marking_round.public_id, following])
    if not request.htmx:
        return redirect(address)
    answer = answer_called(marking_round, following) if following else None
    if answer is None:
        context: dict[str, Any] = {"round": marking_round, "fragment": True}
        return push_url(render(request, f"{FOLDER}/_done.html", context), address)
    return push_url(_show(request, marking_round, answer), address)


def _show(
    request: MemberRequest,
    marking_round: MarkingRound,
    answer: BlindAnswer,
    refusal: BadInput | None = None,
) -> HttpResponse:
    look_at_round(marking_round, acting_user=request.user, page=answer.alias)
    case = case_of(answer, request.user)
    sent = request.POST if refusal else {}
    context = {
        "round": marking_round,
        "case": case,
        "lines": [
            {"row": row, "name": row.name, "value": sent.get(row.name, "")} for row in case.points
        ],
        "columns": 2 + len(case.marks) + bool(case.can_be_decided or case.decision),
        "total": {"name": "total", "value": sent.get("total", "")},
        "queue": queue_around(request.user, marking_round, answer.public_id),
        "choices": _choices(case),
        "reasons": _reasons(),
        "key": uuid5(answer.public_id, f"{request.user.public_id}:{_seen(case)}"),
        "seen": _seen(case),
        "sent": sent,
        "changes": changes_of(answer),
        "refusal": refusal,
        "fragment": request.htmx,
    }
    name = "_case.html" if request.htmx else "case.html"
    status = refusal.status if refusal else 200
    return render(request, f"{FOLDER}/{name}", context, status=status)


def _seen(case: DisputedCase) -> str:
    """The marks that the page shows, so that nobody decides on others."""
    return ",".join(str(mark.pk) for mark in case.marks)


def _choices(case: DisputedCase) -> list[dict[str, Any]]:
    """The given marks as choices, each with its key on the keyboard."""
    return [{"mark": mark, "key": key} for key, mark in enumerate(case.marks, start=1)]


def _reasons() -> list[dict[str, str]]:
    language = get_language() or "en"
    return [
        {"value": reason.value, "label": reason.label(language), "key": key}
        for reason, key in REASON_KEYS.items()
    ]
