"""The desk of checks: one response with what was read in it, confirmed or corrected by keys."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

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
from evaluations.runs.rules.option_order import asked_as_shown
from evaluations.runs.selectors.responses import for_page, pieces_of
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.desk_pages import address_of, at_hand, desk_page, leave_desk, shown_at
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.selectors.bank import image_addresses

FOLDER = "evaluations/reading/checks"


@require_safe
@requires(Capability.CHECK_ANSWERS)
def next_item(request: MemberRequest) -> HttpResponse:
    """Show the next response of the queue, after the one that is skipped."""
    return _show_next(request, read_address(request.GET), number(request.GET, "after"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.CHECK_ANSWERS)
def item(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Show a response to be checked; a POST saves the check and shows the next one."""
    response, address = _response(public_id), read_address(request.GET)
    if request.method != "POST":
        return _page(request, response, address)
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
        return _page(request, response, address, sent=request.POST, refusal=refusal)
    return _show_next(request, address, response.pk, saved=saved.check)


@require_POST
@requires(Capability.CHECK_ANSWERS)
def undo(request: MemberRequest) -> HttpResponse:
    """Go back to the last own check, or to the one before it; nothing is changed."""
    before = None
    if current := at_hand(request, "response"):
        before = Response.objects.filter(public_id=current).first()
    check = own_last(request.user, before)
    if check is None:
        raise Conflict(_("You have no earlier checks."), code="no_check")
    return _show(request, _response(check.response.public_id), read_address(request.GET))


def _response(public_id: UUID) -> Response:
    rows = Response.objects.select_related("revision", "question__task__dataset")
    response = rows.filter(public_id=public_id).first()
    if response is None or reading_to_check(response) is None:
        raise NotFound(_("There is no such response to check."))
    return response


def _show_next(
    request: MemberRequest, address: Address, after: int, *, saved: AnswerCheck | None = None
) -> HttpResponse:
    queue = waiting(request.user, address.choice)
    response = next_waiting(queue, after or begins_after(queue, request.user))
    if response is None:
        return leave_desk(request, address_of("checks:overview", address.query))
    return _show(request, _response(response.public_id), address, saved=saved)


def _show(
    request: MemberRequest,
    response: Response,
    address: Address,
    *,
    saved: AnswerCheck | None = None,
) -> HttpResponse:
    """Show the desk at the address of *response*."""
    place = address_of("checks:item", address.query, response.public_id)
    return shown_at(request, place, lambda: _page(request, response, address, saved=saved))


def _page(
    request: MemberRequest,
    response: Response,
    address: Address,
    *,
    sent: Any = None,
    refusal: BadInput | Conflict | None = None,
    saved: AnswerCheck | None = None,
) -> HttpResponse:
    context = _context(request, response, address, sent) | {"saved": saved}
    return desk_page(request, FOLDER, context, refusal)


def _context(
    request: MemberRequest, response: Response, address: Address, sent: Any
) -> dict[str, Any]:
    """Return the context; it has neither the key, nor the model, nor the checks of others."""
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
        "asked": asked_as_shown(revision, response.option_order),
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
