"""The marking desk: home, one round, one response, and what a teacher does there."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import push_url

from evaluations.marking.desk.forms.marks import MarkForm, beside, panel, typed, typed_before
from evaluations.marking.desk.selectors.desk import (
    Given,
    desk_item,
    has_left,
    own_round,
    own_slot,
    own_windows_end,
    round_for,
    slot_to_save,
)
from evaluations.marking.desk.selectors.desk_home import home_rounds
from evaluations.marking.desk.selectors.desk_settings import desk_preferences
from evaluations.marking.desk.selectors.own_marks import finished_rounds
from evaluations.marking.desk.selectors.queue import has_work, why_empty
from evaluations.marking.desk.services import slots
from evaluations.marking.desk.services.drafts import (
    discard_change,
    keep_words,
    newest_sequence,
    save_draft,
)
from evaluations.marking.desk.services.leaving import leave_round
from evaluations.marking.desk.services.mark_rows import frozen_rubric
from evaluations.marking.desk.services.marking import (
    check_revisable,
    finish_revising,
    is_revisable,
    last_marked,
    save_mark,
)
from evaluations.marking.desk.services.same_rubric import RUBRIC_CHANGED, check_rubric
from evaluations.models import MarkingRound, Slot
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, closed_to, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.desk_pages import at_hand, desk_page, shown_at
from gradeapp.common.refusals import BadInput, Conflict, NotFound

FOLDER = "evaluations/marking/desk"
Find = Callable[[User, UUID], Slot | None]


@require_safe
@requires(Capability.MARK)
def home(request: MemberRequest) -> HttpResponse:
    """The teacher's open rounds with own counts, and the finished ones."""
    context = {
        "rounds": home_rounds(request.user, timezone.now()),
        "finished": finished_rounds(request.user),
        "prefs": desk_preferences(request.user),
        "closed": closed_to(request.user),
    }
    return render(request, "evaluations/marking/desk/home.html", context)


@require_safe
@requires(Capability.MARK)
def round_page(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """A round before the first response and after the last one: go on, or why not."""
    marking_round = _round(request, round_id)
    return render(
        request, "evaluations/marking/desk/round.html", _round_context(request, marking_round)
    )


@require_POST
@requires(Capability.MARK)
def next_response(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Claim the next response and show it; a change that is given up is discarded first."""
    if "discard" in request.POST and (answer := at_hand(request)):
        sent = request.POST.get("sequence", "")
        newest = int(sent) if re.fullmatch("[0-9]{1,16}", sent) else 0
        discard_change(_slot(request, answer), request.user, up_to=newest)
    return _show_next(request, _round(request, round_id))


@require_POST
@requires(Capability.MARK)
def undo(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Go back to the last own mark: to revise it, or to read it when the time for that is over."""
    marking_round = _round(request, round_id)
    before = None
    if current := at_hand(request):
        before = own_slot(request.user, current)
    return _revise(request, last_marked(request.user, marking_round, before))


@require_safe
@requires(Capability.MARK)
def desk(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """One response that this teacher holds, or has marked: then to be read.

    The form of a change, for which an address with ``change`` asks, is shown while the
    mark can be revised, and so is one that holds the draft of a change. Afterwards such
    a draft is shown beside the mark.
    """
    reading = False if "change" in request.GET else None
    context = _desk_context(request, _slot(request, answer_id), reading=reading)
    context["raw"] = request.GET.get("view") == "raw"
    return render(request, "evaluations/marking/desk/desk.html", context)


@require_POST
@requires(Capability.MARK)
def revise(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """An own mark in the form again, as long as it can be revised."""
    return _revise(request, _slot(request, answer_id))


@require_POST
@requires(Capability.MARK)
def done(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Say that all own marks are as they should be: none of them is revised any more."""
    marking_round = _round(request, round_id)
    finish_revising(request.user, marking_round, now=timezone.now())
    return redirect("marking:round", marking_round.public_id)


@require_POST
@requires(Capability.MARK)
def leave(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Leave the round for good, so that what was closed while marking opens again."""
    marking_round = _round(request, round_id)
    leave_round(marking_round, request.user, now=timezone.now())
    messages.success(request, _("You have left %(name)s.") % {"name": marking_round.name})
    return redirect("marking:home")


@require_POST
@requires(Capability.MARK)
def save(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """Save the mark; the next response is shown only once that is confirmed."""
    slot = _own(request, slot_to_save, answer_id, again=True)
    form = MarkForm(answer_id, len(frozen_rubric(slot.answer).points), request.POST)
    try:
        check_rubric(slot.answer, request.POST.get("rubric", ""))  # its points may be fewer
        if not form.is_valid():
            raise BadInput(form.first_error())
        save_mark(slot, request.user, **form.as_mark(), now=timezone.now())
    except BadInput as refusal:
        if request.htmx:
            raise
        return _desk_again(request, slot, refusal)
    except Conflict as refusal:
        if refusal.code not in ("stale_version", "settled", RUBRIC_CHANGED):
            raise
        return _desk_again(request, slot, refusal)
    return _show_next(request, slot.answer.round)


@require_POST
@requires(Capability.MARK)
def skip(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """Put the response at the end of the queue and go on."""
    slot = _slot(request, answer_id)
    if not slots.skip(slot, request.user, now=timezone.now()):
        raise Conflict(_("A marked response cannot be skipped."), code="marked")
    return _show_next(request, slot.answer.round)


@require_POST
@requires(Capability.MARK)
def ahead(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """The response after this one, fetched while this one is read; 204 when there is none.

    The page shows it only once the mark of this one is saved.
    """
    slot = slots.claim_ahead(_slot(request, answer_id), request.user, now=timezone.now())
    if slot is None:
        return HttpResponse(status=204)
    return render(request, "evaluations/marking/desk/_desk.html", _desk_context(request, slot))


@require_POST
@requires(Capability.MARK)
def draft(request: MemberRequest, answer_id: UUID) -> HttpResponse:
    """Keep what has been typed so far; the answer is the time, for the page to show.

    If a draft with a higher number stands, from a browser whose clock is ahead, it is that number,
    with status 409: the page counts on from there, and sends its draft again. What a page sends
    while it closes is kept even so, for nobody may be there to send it again.
    """
    slot, now = _own(request, slot_to_save, answer_id, again=True), timezone.now()
    given = typed(len(frozen_rubric(slot.answer).points), request.POST)
    try:
        sequence = int(request.POST.get("sequence", ""))
        version = int(request.POST.get("version", "0"))
    except ValueError:
        raise BadInput(_("A draft must have a sequence number.")) from None
    if not 0 < sequence < 2**53:  # the next one must fit into its column too
        raise BadInput(_("A draft must have a sequence number."))
    kept = {"sequence": sequence, "based_on_version": version, "content": _draft(given)}
    kept["rubric"] = request.POST.get("rubric", "")
    kept["leaving"] = request.POST.get("leaving") == "yes"
    if request.POST.get("unconfirmed") == "yes":  # a save whose answer did not come
        kept["unconfirmed"] = at_hand(request, "key")
    kept["beside"] = request.POST.get("beside") == "yes"  # the page knows of another mark by now
    newer = save_draft(slot, request.user, **kept, now=now)
    if newer is not None:
        return HttpResponse(str(newer), status=409, content_type="text/plain")
    return HttpResponse(timezone.localtime(now).strftime("%H:%M:%S"), content_type="text/plain")


def _draft(given: Given) -> dict[str, object]:
    return {
        "points": list(given.points),
        "total": given.total,
        "comment": given.comment,
        "flags": list(given.flags),
    }


def _round(request: MemberRequest, round_id: UUID) -> MarkingRound:
    marking_round = own_round(request.user, round_id)
    if marking_round is None and has_left(request.user, round_id):
        raise NotFound(_("You are no longer in this round. Your saved marks count."))
    if marking_round is None:
        raise NotFound(_("There is no such round."))
    return marking_round


def _slot(request: MemberRequest, answer_id: UUID) -> Slot:
    return _own(request, own_slot, answer_id)


def _own(request: MemberRequest, find: Find, answer_id: UUID, *, again: bool = False) -> Slot:
    """The teacher's own slot; another's, none and a withdrawn one are one and the same refusal.

    *again*: what went back into their queue while its page was open is theirs again.
    """
    ask = slots.asked_for_again if again else slots.asked_for
    slot = ask(request.user, find, answer_id, now=timezone.now())
    if slot is None:
        raise NotFound(_("There is no such response, or it is no longer assigned to you."))
    return slot


def _show_next(request: MemberRequest, marking_round: MarkingRound) -> HttpResponse:
    """The next response, or the round's page that says why there is none."""
    slot = slots.claim_next(request.user, round=marking_round, now=timezone.now())
    if slot is not None:
        return _show(request, slot)
    address = reverse("marking:round", args=[marking_round.public_id])

    def empty() -> HttpResponse:
        context = _round_context(request, marking_round) | {"fragment": True}
        return render(request, "evaluations/marking/desk/_empty.html", context)

    return shown_at(request, address, empty)


def _show(request: MemberRequest, slot: Slot) -> HttpResponse:
    def shown() -> HttpResponse:
        context = _desk_context(request, slot)
        if request.POST.get("ahead") == context["desk"].digest:  # the page has it already
            context |= {"fragment": True}
            return render(request, "evaluations/marking/desk/_ahead.html", context)
        return desk_page(request, FOLDER, context)

    return shown_at(request, reverse("marking:desk", args=[slot.answer.public_id]), shown)


def _revise(request: MemberRequest, slot: Slot) -> HttpResponse:
    """The form of a mark that can be revised; of any other the mark, and why it stays.

    A whole page is redirected to, so that loading it again sends nothing again.
    """
    address = reverse("marking:desk", args=[slot.answer.public_id])
    try:
        check_revisable(slot, timezone.now())
    except Conflict as refusal:
        if not request.htmx:
            messages.warning(request, str(refusal))
            return redirect(address)
        context = _desk_context(request, slot, reading=True)
        return push_url(desk_page(request, FOLDER, context, refusal), address)
    if not request.htmx:
        return redirect(f"{address}?change")
    context = _desk_context(request, slot, reading=False)
    return push_url(desk_page(request, FOLDER, context), address)


def _desk_again(request: MemberRequest, slot: Slot, refusal: BadInput | Conflict) -> HttpResponse:
    """The same response with everything that was sent, and what is wrong.

    It is in the form still, or, where nothing can be saved any more, beside the mark that counts.
    What was given for another rubric stands above the form of the present one.
    """
    slot.refresh_from_db(fields=["marked", "revisable_until"])
    if refusal.code == RUBRIC_CHANGED:
        earlier = typed_before(request.POST)
        newest = newest_sequence(slot, request.user)
        kept = {"sequence": newest + 1, "rubric": request.POST.get("rubric", "")}
        keep_words(slot, request.user, _draft(earlier), **kept)
        context = _desk_context(request, slot, reading=False)
        context["earlier"] = earlier
        return desk_page(request, FOLDER, context, refusal)
    given = typed(len(frozen_rubric(slot.answer).points), request.POST)
    context = _desk_context(request, slot, given)
    if refusal.code == "settled":
        context |= _desk_context(request, slot, reading=True) | {"sent": context["panel"]}
    elif refusal.code == "stale_version":
        # A draft of the present mark is of another browser: "Keep saved mark" discards none here.
        context["desk"] = replace(context["desk"], draft_sequence=0)
        if stored := refusal.details.get("stored"):
            context["beside"] = beside(context["panel"], stored)
    return desk_page(request, FOLDER, context, refusal)


def _desk_context(
    request: MemberRequest, slot: Slot, given: Given | None = None, *, reading: bool | None = None
) -> dict[str, Any]:
    """What the desk shows of a response; no model instance reaches its templates.

    What is marked is to be read, unless *reading* says otherwise, a change of it was
    drafted, or *given* was sent just now.
    """
    shown, teacher = desk_item(slot, request.user), request.user.public_id
    over = slot.marked and not is_revisable(slot, timezone.now())
    if reading is None:
        reading = given is None and shown.drafted_at is None
    reading = (reading or (over and given is None)) and shown.version > 0
    drafted = panel(shown, teacher) if reading and shown.drafted_at else None
    return {
        "desk": shown,
        "panel": panel(shown, teacher, shown.saved if reading else given),
        "sent": drafted,
        "round": round_for(request.user, slot.answer.round),
        "prefs": desk_preferences(request.user),
        "to_read": reading,
        "revisable_until": None if over else slot.revisable_until,
    }


def _round_context(request: MemberRequest, marking_round: MarkingRound) -> dict[str, Any]:
    now = timezone.now()
    ready = has_work(request.user, marking_round, now)
    return {
        "round": round_for(request.user, marking_round),
        "prefs": desk_preferences(request.user),
        "empty": None if ready else why_empty(request.user, marking_round, now),
        "revisable_until": own_windows_end(request.user, marking_round, now),
        "may_leave": request.user.granted != request.user.capabilities,
    }
