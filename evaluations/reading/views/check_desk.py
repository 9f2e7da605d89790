"""The desk of checks: one response with what was read in it, confirmed or corrected by keys."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect, push_url

from evaluations.models import AnswerCheck, Response
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.forms.answer_checks import (
    Address,
    check_panel,
    number,
    read_address,
    sent_check,
    shown_reading,
)
from evaluations.reading.selectors.answer_check_queue import (
    begins_after,
    left,
    next_waiting,
    own_check,
    own_last,
    source_of,
    waiting,
)
from evaluations.reading.selectors.answer_checks import reading_to_check, spans_of
from evaluations.reading.services.answer_checks import save_check
from evaluations.runs.selectors.responses import for_page, pieces_of
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.selectors.bank import image_addresses


@require_safe
@requires(Capability.CHECK_ANSWERS)
def next_item(request: MemberRequest) -> HttpResponse:
    """The next response of the queue after the one that is skipped, if any."""
    return _show_next(request, read_address(request.GET), number(request.GET, "after"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.CHECK_ANSWERS)
def item(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """One response to be checked; a POST saves what was answered and shows the next."""
    response, address = _response(public_id), read_address(request.GET)
    if request.method != "POST":
        return _show(request, response, address)
    own = own_check(response, request.user)
    source = CheckSource(own.source) if own else source_of(response, address.choice)
    try:
        sent = sent_check(response, request.POST)
        saved = save_check(
            response,
            request.user,
            seen=sent.seen,
            said=sent.said,
            source=source,
            key=sent.key,
            based_on=sent.based_on,
        )
    except (BadInput, Conflict) as refusal:
        if request.htmx:
            raise
        return _show(request, response, address, sent=request.POST, refusal=refusal)
    return _show_next(request, address, response.pk, saved=saved.check)


@require_POST
@requires(Capability.CHECK_ANSWERS)
def undo(request: MemberRequest) -> HttpResponse:
    """Back to the last own check, or from that one to the one before; nothing is changed."""
    before = None
    if current := _as_uuid(request.POST.get("response", "")):
        before = Response.objects.filter(public_id=current).first()
    check = own_last(request.user, before)
    if check is None:
        raise Conflict(_("You have checked nothing earlier."), code="no_check")
    address = read_address(request.GET)
    response = _response(check.response.public_id)
    if not request.htmx:
        return redirect(_place("checks:item", address, response.public_id))
    return _show(request, response, address)


def _response(public_id: UUID) -> Response:
    rows = Response.objects.select_related("revision", "question__task__dataset")
    response = rows.filter(public_id=public_id).first()
    if response is None or reading_to_check(response) is None:
        raise NotFound(_("There is no such response to check."))
    return response


def _as_uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _show_next(
    request: MemberRequest, address: Address, after: int, *, saved: AnswerCheck | None = None
) -> HttpResponse:
    queue = waiting(request.user, address.choice)
    response = next_waiting(queue, after or begins_after(queue, request.user))
    if response is None:
        place = _place("checks:overview", address)
        return HttpResponseClientRedirect(place) if request.htmx else redirect(place)
    if not request.htmx:
        return redirect(_place("checks:item", address, response.public_id))
    return _show(request, _response(response.public_id), address, saved=saved)


def _show(
    request: MemberRequest,
    response: Response,
    address: Address,
    *,
    sent: Any = None,
    refusal: BadInput | Conflict | None = None,
    saved: AnswerCheck | None = None,
) -> HttpResponse:
    """The whole page, or what htmx puts in place of ``#desk``."""
    context = _context(request, response, address, sent)
    context |= {"refusal": refusal, "saved": saved, "fragment": bool(request.htmx)}
    name = "_desk.html" if request.htmx else "desk.html"
    status = refusal.status if refusal else 200
    page = render(request, f"evaluations/reading/checks/{name}", context, status=status)
    place = _place("checks:item", address, response.public_id)
    return push_url(page, place) if request.htmx else page


def _context(
    request: MemberRequest, response: Response, address: Address, sent: Any
) -> dict[str, Any]:
    """Neither the key, nor the model, nor what others said of the response is in it."""
    own = own_check(response, request.user)
    reading = shown_reading(own, reading_to_check(response))
    revision, question = response.revision, response.question
    n, more = left(waiting(request.user, address.choice))
    return {
        "response_id": response.public_id,
        "after": response.pk,
        "pieces": for_page(pieces_of(response.text, spans_of(reading))),
        "text": response.text,
        "cut_off": response.finish_reason == "length",
        "by_model": not hasattr(reading, "policy"),
        "asked": revision.asked,
        "language": revision.language,
        "question_type": revision.question_type,
        "subject": question.subject,
        "task": question.task.slug,
        "called": question.external_id,
        "images": image_addresses(question.task.dataset, revision.images),
        "reading": {"outcome": reading.outcome, "answers": reading.answers},
        "panel": check_panel(response, reading, own, sent),
        "own": own,
        "source": source_of(response, address.choice).value if own is None else own.source,
        "query": address.query,
        "left": n,
        "more": more,
    }


def _place(name: str, address: Address, *args: object) -> str:
    place = reverse(name, args=args)
    return f"{place}?{address.query}" if address.query else place
