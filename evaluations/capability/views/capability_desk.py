"""The reviewer's desk: own reviews, one wrong answer at a time, back to the last own one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from evaluations.capability.forms import JudgementForm, judgement_panel
from evaluations.capability.selectors.capability_desk import (
    first_lease_end,
    has_work,
    keys_on,
    own_review,
    own_reviews,
    own_slot,
    review_desk,
    review_for,
    reviewed_answer,
    slot_to_save,
)
from evaluations.capability.services import review_slots
from evaluations.capability.services.capability_judging import last_judged, save_judgement
from evaluations.models import CapabilityReview, ReviewSlot
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.desk_pages import at_hand, desk_page, shown_at
from gradeapp.common.refusals import BadInput, Conflict, NotFound

FOLDER = "evaluations/capability"
Find = Callable[[User, UUID], ReviewSlot | None]


@require_safe
@requires(Capability.MARK)
def home(request: MemberRequest) -> HttpResponse:
    """The reviewer's open reviews with own counts."""
    context = {"reviews": own_reviews(request.user)}
    return render(request, "evaluations/capability/home.html", context)


@require_safe
@requires(Capability.MARK)
def review_page(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """A review before the first answer and after the last one: go on, or why not."""
    context = _review_context(request, _review(request, review_id))
    return render(request, "evaluations/capability/waiting.html", context)


@require_POST
@requires(Capability.MARK)
def next_answer(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """Claim the next answer and show it."""
    return _show_next(request, _review(request, review_id))


@require_POST
@requires(Capability.MARK)
def undo(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """Back to the last own judgement, or from that one to the one before."""
    review = _review(request, review_id)
    before = None
    if current := at_hand(request):
        before = own_slot(request.user, current)
    return _show(request, last_judged(request.user, review, before))


@require_safe
@requires(Capability.MARK)
def desk(request: MemberRequest, item_id: UUID) -> HttpResponse:
    """One answer that this reviewer holds or has judged."""
    slot = _slot(request, item_id)
    return desk_page(request, FOLDER, _desk_context(request, slot))


@require_POST
@requires(Capability.MARK)
def save(request: MemberRequest, item_id: UUID) -> HttpResponse:
    """Save the judgement; the next answer is shown only once that is confirmed."""
    slot = _slot(request, item_id, find=slot_to_save)
    form = JudgementForm(reviewed_answer(slot.item), request.POST)
    try:
        if not form.is_valid():
            raise BadInput(form.first_error())
        save_judgement(slot, request.user, **form.as_judgement())
    except BadInput as refusal:
        if request.htmx:
            raise
        return _desk_again(request, slot, refusal)
    except Conflict as refusal:
        if refusal.code != "stale_version":
            raise
        return _desk_again(request, slot, refusal)
    return _show_next(request, slot.item.review)


@require_POST
@requires(Capability.MARK)
def skip(request: MemberRequest, item_id: UUID) -> HttpResponse:
    """Put the answer at the end of the queue and go on."""
    slot = _slot(request, item_id)
    if not review_slots.skip(slot, request.user):
        raise Conflict(_("A judged response cannot be skipped."), code="judged")
    return _show_next(request, slot.item.review)


@require_POST
@requires(Capability.MARK)
def leave(request: MemberRequest, review_id: UUID) -> HttpResponse:
    """Leave the review for good, so that what was closed while judging opens again."""
    review = _review(request, review_id)
    review_slots.leave_review(review, request.user)
    messages.success(request, _("You have left %(name)s.") % {"name": review.name})
    return redirect("reviewing:home")


def _review(request: MemberRequest, review_id: UUID) -> CapabilityReview:
    review = own_review(request.user, review_id)
    if review is None:
        raise NotFound(_("There is no such review."))
    return review


def _slot(request: MemberRequest, item_id: UUID, *, find: Find = own_slot) -> ReviewSlot:
    """The reviewer's own slot; another's, none and a closed one are one and the same refusal.

    A save is told that its review was closed.
    """
    slot = find(request.user, item_id)
    if slot is None:
        raise NotFound(_("There is no such response, or it is no longer assigned to you."))
    return slot


def _show_next(request: MemberRequest, review: CapabilityReview) -> HttpResponse:
    """The next answer, or the review's page that says why there is none."""
    slot = review_slots.claim_next(request.user, review, now=timezone.now())
    if slot is not None:
        return _show(request, slot)
    address = reverse("reviewing:review", args=[review.public_id])

    def waiting() -> HttpResponse:
        context = _review_context(request, review) | {"fragment": True}
        return render(request, "evaluations/capability/_waiting.html", context)

    return shown_at(request, address, waiting)


def _show(request: MemberRequest, slot: ReviewSlot) -> HttpResponse:
    address = reverse("reviewing:desk", args=[slot.item.public_id])
    return shown_at(
        request, address, lambda: desk_page(request, FOLDER, _desk_context(request, slot))
    )


def _desk_again(
    request: MemberRequest, slot: ReviewSlot, refusal: BadInput | Conflict
) -> HttpResponse:
    """The same answer with everything that was sent, and what is wrong."""
    return desk_page(request, FOLDER, _desk_context(request, slot, request.POST), refusal)


def _desk_context(request: MemberRequest, slot: ReviewSlot, sent: Any = None) -> dict[str, Any]:
    """Values only: neither the run nor its response reaches a template of the desk."""
    shown = review_desk(slot, request.user)
    return {
        "desk": shown,
        "panel": judgement_panel(shown, request.user.public_id, sent),
        "review": review_for(request.user, slot.item.review),
        "keys_on": keys_on(request.user),
    }


def _review_context(request: MemberRequest, review: CapabilityReview) -> dict[str, Any]:
    now = timezone.now()
    ready = has_work(request.user, review, now)
    return {
        "review": review_for(request.user, review),
        "ready": ready,
        "until": None if ready else first_lease_end(request.user, review, now),
        "may_leave": request.user.granted != request.user.capabilities,
        "keys_on": keys_on(request.user),
    }
