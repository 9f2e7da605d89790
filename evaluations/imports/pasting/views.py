"""Pages on which a person copies prompts to a website, and pastes its answers."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluations.facts.looks import record_views
from evaluations.imports.pasting.forms import PasteListForm
from evaluations.imports.pasting.selectors import (
    answered,
    asked,
    get_paste_list,
    next_number,
    paste_lists,
    progress_of,
)
from evaluations.imports.pasting.services import make_paste_list, paste_answer
from evaluations.models import PasteList, Response
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotFound, Refusal
from questions.models import Question
from questions.selectors.bank import image_addresses

PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def paste_list_page(request: MemberRequest) -> HttpResponse:
    """List the paste lists with their progress, or make a new one."""
    form = PasteListForm(request.POST or None, user=request.user)
    status = 200
    if request.method == "POST":
        status = 400
        if form.is_valid():
            try:
                made = make_paste_list(**form.wanted(), acting_user=request.user)
                return redirect("answer-imports:paste", made.public_id)
            except Refusal as refusal:
                form.add_error(None, str(refusal))
                status = refusal.status
    page = Paginator(paste_lists(), PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "lists": progress_of(list(page.object_list))}
    return render(request, "evaluations/imports/pasting/list.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def paste_page(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Show one question (``n``, from 1; else the next open one) to ask, or store its answer."""
    paste_list = get_paste_list(public_id)
    number = _number(request, paste_list)
    if number is None:
        return _page(request, paste_list, None)
    if request.method != "POST":
        return _page(request, paste_list, number)
    question = _question(paste_list, number)
    revision = request.POST.get("revision", "")[:18]
    try:
        paste_answer(
            paste_list,
            question,
            revision_id=int(revision) if revision.isdecimal() else 0,
            text=request.POST.get("text", ""),
            acting_user=request.user,
        )
    except Refusal as refusal:
        text = request.POST.get("text", "")
        return _page(
            request, paste_list, number, refused=str(refusal), text=text, status=refusal.status
        )
    messages.success(request, _("Answer %(n)s stored.") % {"n": number})
    following = next_number(paste_list, number)
    address = reverse("answer-imports:paste", args=[public_id])
    return redirect(address if following is None else f"{address}?n={following}")


def _number(request: MemberRequest, paste_list: PasteList) -> int | None:
    """Return the number that the address names, or that of the next question without an answer."""
    given = request.GET.get("n", "")
    if not given:
        return next_number(paste_list)
    number = int(given) if given.isdecimal() and len(given) < 6 else 0
    if not 1 <= number <= len(paste_list.questions):
        raise NotFound(_("There is no such question in this list."))
    return number


def _question(paste_list: PasteList, number: int) -> Question:
    questions = Question.objects.select_related("task__dataset", "current")
    return questions.get(pk=paste_list.questions[number - 1])


def _page(
    request: MemberRequest,
    paste_list: PasteList,
    number: int | None,
    *,
    refused: str = "",
    text: str = "",
    status: int = 200,
) -> HttpResponse:
    total = len(paste_list.questions)
    context = {
        "list": paste_list,
        "run": paste_list.run,
        "number": number,
        "total": total,
        "done": len(answered(paste_list)),
        "refused": refused,
        "text": text,
    }
    if number is not None:
        question = _question(paste_list, number)
        there = Response.objects.filter(
            run=paste_list.run_id, question=question, repeat=paste_list.repeat
        )
        stored = there.first()
        if stored is not None:
            record_views([stored.pk], acting_user=request.user, page="responses")
        to_ask = asked(paste_list, question)
        addresses = image_addresses(question.task.dataset, to_ask.images)
        context |= {
            "question": question,
            "asked": to_ask,
            "images": [addresses[name] for name in to_ask.images if name in addresses],
            "stored": stored,
            "before": number - 1 if number > 1 else None,
            "after": number + 1 if number < total else None,
        }
    return render(request, "evaluations/imports/pasting/paste.html", context, status=status)
