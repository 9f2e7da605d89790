"""One response of a round for its lead: all marks side by side, the decision, its correction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import push_url

from evaluations.facts.looks import record_view
from evaluations.marking.arbitration.forms import PAIR, DecisionForm, MarkFirstForm
from evaluations.marking.arbitration.selectors.arbitration import (
    DisputedCase,
    answer_called,
    case_of,
    queue_around,
    waiting_for,
)
from evaluations.marking.arbitration.selectors.history import changes_of
from evaluations.marking.arbitration.services import (
    arbitrate,
    check_before_seeing,
    check_case,
    claim_case,
    correct_final,
    mark_before_seeing,
)
from evaluations.marking.desk.services.mark_rows import GivenMark, check_given
from evaluations.marking.desk.services.same_rubric import RUBRIC_CHANGED, rubric_code
from evaluations.marking.rounds.views.rounds import round_to_change, visible_round
from evaluations.models import BlindAnswer, MarkingRound
from evaluations.models.vocabulary import ArbitrationReason
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import BadInput, Conflict, NotFound, Refusal
from gradeapp.common.submission_keys import submission_key

FOLDER = "evaluations/marking/arbitration"
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
    first = waiting_for(request.user, marking_round, timezone.now()).first()
    record_view(marking_round, acting_user=request.user, page="arbitration")
    if first is not None:
        return redirect("rounds:response", round_id, first.public_id)
    return render(request, f"{FOLDER}/done.html", {"round": marking_round})


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def response_page(request: MemberRequest, round_id: UUID, answer_id: UUID) -> HttpResponse:
    """All marks of one response; a POST finalizes it, or corrects what it was finalized with."""
    if request.method == "POST":
        marking_round = round_to_change(request.user, round_id)
        return _finalize(request, marking_round, _answer(request, marking_round, answer_id))
    marking_round = visible_round(request.user, round_id)
    return _show(request, marking_round, _answer(request, marking_round, answer_id))


@require_POST
@requires(Capability.LEAD_ROUNDS)
def claim(request: MemberRequest, round_id: UUID, answer_id: UUID) -> HttpResponse:
    """Keep the response from other leads for a while; the page asks for it by itself."""
    marking_round = round_to_change(request.user, round_id)
    answer = _answer(request, marking_round, answer_id)
    record_view(marking_round, acting_user=request.user, page=answer.alias)
    until = claim_case(answer, request.user, now=timezone.now())
    if not request.htmx:
        return redirect("rounds:response", round_id, answer_id)
    return render(request, f"{FOLDER}/_claim.html", {"until": until})


def _answer(request: MemberRequest, marking_round: MarkingRound, answer_id: UUID) -> BlindAnswer:
    """The response; that there is none with this key tells of it too, and counts as a look."""
    answer = answer_called(marking_round, answer_id)
    if answer is None:
        record_view(marking_round, acting_user=request.user, page="arbitration")
        raise NotFound(_("There is no such response in this round."))
    return answer


def _finalize(
    request: MemberRequest, marking_round: MarkingRound, answer: BlindAnswer
) -> HttpResponse:
    now = timezone.now()
    case = case_of(answer, request.user, now)
    if case.marks_first or _is_first_again(case, request.POST):
        return _mark_first(request, marking_round, answer, case)
    following = queue_around(request.user, marking_round, answer.public_id, now).following
    form = DecisionForm(case, request.POST)
    try:
        if not form.is_valid():
            if page := form.page():  # a choice or a scoring point of that page may be gone
                check_case(answer, request.user, **page)
            if own := form.own_marks():  # a mark that does not fit comes before a missing reason
                check_given(answer, GivenMark(*own))
            raise BadInput(form.first_error())
        number = form.cleaned_data["number"]
        if number is None:
            arbitrate(answer, request.user, **form.as_decision(), now=now)
        else:
            correct_final(answer, request.user, number=number, **form.as_decision(), now=now)
    except (BadInput, Conflict, NotFound) as refusal:
        if request.htmx and not isinstance(refusal, Conflict):
            raise  # the page stays
        return _show(
            request, marking_round, _answer(request, marking_round, answer.public_id), refusal
        )
    if number is not None:
        messages.success(
            request, _("The final mark of %(alias)s was corrected.") % {"alias": answer.alias}
        )
        return _show_case(request, marking_round, answer.public_id)
    if not request.htmx:
        messages.success(request, _("%(alias)s is finalized.") % {"alias": answer.alias})
    return _show_following(request, marking_round, following)


def _is_first_again(case: DisputedCase, sent: Mapping[str, str]) -> bool:
    """Whether the page of the first mark, which showed no other, was sent again."""
    showed_none = not (sent.get("seen") or sent.get("number") or sent.get("reason"))
    return case.before is not None and bool(case.marks) and showed_none


def _mark_first(
    request: MemberRequest, marking_round: MarkingRound, answer: BlindAnswer, case: DisputedCase
) -> HttpResponse:
    """Store the lead's own mark; the answer shows the others."""
    form = MarkFirstForm(case, request.POST)
    try:
        if not form.is_valid():
            if form.cleaned_data.keys() >= {"answer", "rubric"}:
                rubric = form.cleaned_data["rubric"]
                check_before_seeing(answer, request.user, rubric=rubric)
            raise BadInput(form.first_error())
        mark_before_seeing(answer, request.user, **form.as_mark())
    except (BadInput, Conflict, NotFound) as refusal:
        if request.htmx and not isinstance(refusal, Conflict):
            raise  # the page stays
        return _show(
            request, marking_round, _answer(request, marking_round, answer.public_id), refusal
        )
    return _show_case(request, marking_round, answer.public_id)


def _show_following(
    request: MemberRequest, marking_round: MarkingRound, following: UUID | None
) -> HttpResponse:
    """The response after the finalized one, or the first that still waits, or the end."""
    if following is None:
        first = waiting_for(request.user, marking_round, timezone.now()).first()
        following = first.public_id if first else None
    if following is not None:
        return _show_case(request, marking_round, following)
    address = reverse("rounds:arbitration", args=[marking_round.public_id])
    if not request.htmx:
        return redirect(address)
    context: dict[str, Any] = {"round": marking_round, "fragment": True}
    return push_url(render(request, f"{FOLDER}/_done.html", context), address)


def _show_case(
    request: MemberRequest, marking_round: MarkingRound, answer_id: UUID
) -> HttpResponse:
    """A response by its own address, as a page or as what htmx puts in place of another."""
    address = reverse("rounds:response", args=[marking_round.public_id, answer_id])
    if not request.htmx:
        return redirect(address)
    return push_url(
        _show(request, marking_round, _answer(request, marking_round, answer_id)), address
    )


def _show(
    request: MemberRequest,
    marking_round: MarkingRound,
    answer: BlindAnswer,
    refusal: Refusal | None = None,
) -> HttpResponse:
    """The page of one response; after a *refusal* with everything that was sent."""
    record_view(marking_round, acting_user=request.user, page=answer.alias)
    now = timezone.now()
    case = case_of(answer, request.user, now)
    moved = refusal is not None and refusal.code == RUBRIC_CHANGED
    sent: Any = request.POST if refusal else {}
    if moved:  # points of another rubric stand above the form, not in it
        sent = {"comment": request.POST.get("comment", "")}
    context = _case_context(case, sent, "correct" in request.GET)
    if moved:
        in_form = sent if context["deciding"] else {}
        context["unsent"] = _unsent({**request.POST.dict(), **dict.fromkeys(in_form, "")})
    context |= {
        "rubric_code": rubric_code(answer),
        "round": marking_round,
        "queue": queue_around(request.user, marking_round, answer.public_id, now),
        "key": _key(request, answer, case),
        "changes": [] if case.hidden else changes_of(answer),
        "refusal": refusal,
        "fragment": request.htmx,
    }
    name = "_case.html" if request.htmx else "case.html"
    status = refusal.status if refusal else 200
    return render(request, f"{FOLDER}/{name}", context, status=status)


def _case_context(case: DisputedCase, sent: Any, asked: bool) -> dict[str, Any]:
    """What depends on whether the lead decides, corrects (as *asked* or *sent*), or looks."""
    correcting = case.can_be_corrected and (asked or bool(sent.get("number")))
    deciding = case.can_be_decided or correcting
    given = dict(zip([row.name for row in case.points], _own_before(case), strict=False))
    own = [
        {"row": row, "name": row.name, "value": sent.get(row.name, given.get(row.name, ""))}
        for row in case.points
    ]
    kept = plain(case.before.total) if case.before else ""
    total = {"name": "total", "value": sent.get("total", kept)}
    return {
        "case": case,
        "lines": own,
        "columns": 2 + len(case.marks) + bool(deciding) + bool(case.decision),
        "total": total,
        "choices": _choices(case),
        "reasons": _reasons(),
        "seen": _seen(case),
        "sent": sent,
        "unsent": [] if deciding else _unsent(sent),
        "deciding": deciding,
        "correcting": correcting,
    }


def _own_before(case: DisputedCase) -> list[str]:
    """The lead's points from before the other marks were shown, as a start for the decision."""
    return case.before.points if case.before else []


def _unsent(sent: Mapping[str, str]) -> list[str]:
    """The points, for whatever rubric, and the comment that were not saved."""
    names = [name for name in sent if name.startswith("point-") or name == "total"]
    points = " · ".join(sent[name] for name in names if sent[name])
    return [part for part in (points, sent.get("comment", "")) if part]


def _key(request: MemberRequest, answer: BlindAnswer, case: DisputedCase) -> UUID:
    """The same for the same page, so that a decision sent twice is one.

    Another under a new rubric, and after a final mark was withdrawn: none counts then, as before
    the first.
    """
    number = case.finals[0].number if case.finals else 0
    place = (case.public_id, request.user.public_id, answer.rubric_id or 0)
    return submission_key(*place, _seen(case), number)


def _seen(case: DisputedCase) -> str:
    """The marks that the page shows, so that nobody decides on others."""
    return ",".join(str(mark.pk) for mark in case.marks)


def _choices(case: DisputedCase) -> list[dict[str, Any]]:
    """The acceptable marks and the mean of the closest pair, each with its key on the keyboard."""
    given: list[dict[str, Any]] = [
        {"value": mark.kind, "kind": mark.kind, "points": mark.joined, "total": mark.total}
        for mark in case.acceptable
    ]
    if case.pair and case.pair.points is not None:
        points = ",".join(plain(value) for value in case.pair.points)
        given.append({"value": PAIR, "kind": "", "points": points, "total": case.pair.value})
    return [choice | {"key": key} for key, choice in enumerate(given, start=1)]


def _reasons() -> list[dict[str, str]]:
    language = get_language() or "en"
    return [
        {"value": reason.value, "label": reason.label(language), "key": key}
        for reason, key in REASON_KEYS.items()
    ]
