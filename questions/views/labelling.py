"""The labelling queue: overview, one question at a time, undo, history, opinions of models."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import trigger_client_event

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads
from gradeapp.common.desk_pages import address_of, desk_page, leave_desk, shown_at
from gradeapp.common.one_file import one_file_of
from gradeapp.common.refusals import BadInput, NotFound
from questions.forms.filters import QuestionFilter
from questions.forms.labelling import (
    Filters,
    chosen_labels,
    label_choices,
    number,
    read_filters,
    sent_labels,
)
from questions.models import LabelOpinion, Question
from questions.rules.four_tuple import Label
from questions.selectors.bank import image_addresses
from questions.selectors.labelling import (
    begins_after,
    by_whom,
    modals_of_agibench,
    next_waiting,
    progress,
    waiting,
)
from questions.selectors.labels import history_rows, reference_of
from questions.selectors.opinions import (
    ModelShare,
    last_opinion,
    model_shares,
    open_differences,
    own_opinion,
    suggestion_for,
)
from questions.services.opinions import give_opinion, note_labels_shown, undo_opinion
from questions.services.suggestions import import_suggestions

FOLDER = "questions/labelling"
SHOWN_FILTERS = ("dataset", "subject", "type", "year")


@require_safe
@requires(Capability.SEE_QUESTIONS)
def overview(request: MemberRequest) -> HttpResponse:
    """What waits within the filters, how far the bank is, and by whom."""
    filters = read_filters(request.GET)
    of_agibench = (None, "", "agibench")
    context = {
        "filters": QuestionFilter(request.GET, queryset=Question.objects.none()),
        "shown_filters": SHOWN_FILTERS,
        "suggestions": filters.suggestions,
        "query": filters.without("mode"),
        "first": progress(filters.rows, request.user, second=False),
        "second": progress(filters.rows, request.user, second=True),
        "waiting": waiting(filters.rows, request.user, second=False).count(),
        "waiting_second": waiting(filters.rows, request.user, second=True).count(),
        "differences": len(open_differences()),
        "people": by_whom(),
        "modals": modals_of_agibench() if request.GET.get("dataset") in of_agibench else [],
        "may_label": request.user.may(Capability.EDIT_QUESTIONS),
        "may_suggest": request.user.may(Capability.START_RUNS),
    }
    return render(request, "questions/labelling/overview.html", context)


@require_safe
@requires(Capability.EDIT_QUESTIONS)
def next_item(request: MemberRequest) -> HttpResponse:
    """The next item of the queue after the one that is skipped, if any."""
    filters = read_filters(request.GET)
    return _show_next(request, filters, number(request.GET, "after"))


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.EDIT_QUESTIONS)
def item(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """One item with its four labels to be given; a POST saves them and shows the next."""
    question, filters = _question(public_id), read_filters(request.GET)
    if request.method != "POST":
        return _page(request, question, filters)
    try:
        given = give_opinion(
            question,
            sent_labels(request.POST),
            acting_user=request.user,
            sets_labels=not filters.second,
            seen=number(request.POST, "seen"),
            suggestion=_shown_suggestion(request, question),
            reason=request.POST.get("reason", ""),
        )
    except BadInput as refusal:
        if request.htmx:
            raise
        return _page(request, question, filters, sent=request.POST.dict(), refusal=refusal)
    if given.overtaken and not request.htmx:
        messages.warning(request, str(given.overtaken))
    response = _show_next(request, filters, question.pk, saved=given.opinion)
    if given.overtaken and request.htmx:
        note = {"text": str(given.overtaken), "kind": "warning"}
        return trigger_client_event(response, "notice", note)
    return response


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def undo(request: MemberRequest) -> HttpResponse:
    """Take the last own labels back and show the item again, with what had been given."""
    opinion = undo_opinion(acting_user=request.user, last=number(request.POST, "last"))
    question, filters = _question(opinion.question.public_id), read_filters(request.GET)

    def shown() -> HttpResponse:
        return _page(request, question, filters, sent=chosen_labels(opinion), undone=True)

    # No address shows what was undone, so that a whole page is sent at once.
    return shown_at(request, _address(filters, question), shown) if request.htmx else shown()


@require_safe
@requires(Capability.SEE_QUESTIONS)
def history(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Every row of the item's labels: what, who, when, why."""
    question = _question(public_id)
    context = {"question": question, "history": history_rows(question)}
    if request.htmx:
        return render(request, "questions/labels/_history.html", context)
    return render(request, "questions/labels/history.html", context)


def _question(public_id: UUID) -> Question:
    rows = Question.objects.select_related("task__dataset", "current", "label__knowledge")
    question = rows.filter(public_id=public_id, current__isnull=False).first()
    if question is None:
        raise NotFound(_("There is no such question."))
    return question


def _shown_suggestion(request: MemberRequest, question: Question) -> LabelOpinion | None:
    key = number(request.POST, "suggestion")
    return LabelOpinion.objects.filter(pk=key, question=question).exclude(model_name="").first()


def _show_next(
    request: MemberRequest, filters: Filters, after: int, *, saved: LabelOpinion | None = None
) -> HttpResponse:
    queue = waiting(filters.rows, request.user, second=filters.second)
    question = next_waiting(queue, after or begins_after(filters.rows, request.user))
    if question is None:
        return leave_desk(request, address_of("questions:labelling", filters.query))
    found = _question(question.public_id)
    shown = partial(_page, request, found, filters, saved=saved)
    return shown_at(request, _address(filters, found), shown)


def _page(
    request: MemberRequest,
    question: Question,
    filters: Filters,
    *,
    sent: dict[str, str] | None = None,
    refusal: BadInput | None = None,
    **state: Any,
) -> HttpResponse:
    context = _context(request, question, filters) | state
    if not filters.second:
        shown = context["suggestion"]
        note_labels_shown(question, acting_user=request.user, suggestion=shown)
    if sent:
        chosen = {**context["choices"].chosen, **{k: v for k, v in sent.items() if v}}
        context |= {"choices": label_choices(chosen), "reason": sent.get("reason", "")}
    return desk_page(request, FOLDER, context, refusal)


def _context(request: MemberRequest, question: Question, filters: Filters) -> dict[str, Any]:
    """In the second labelling nothing that anybody said of the item is shown."""
    revision = question.current
    assert revision is not None  # the queue has only items with a text
    blind, last = filters.second, last_opinion(request.user)
    row = own_opinion(question, request.user) if blind else question.label
    return {
        "question": question,
        "revision": revision,
        "images": image_addresses(question.task.dataset, revision.images),
        "choices": label_choices(chosen_labels(row)),
        "origins": {} if blind or question.label is None else question.label.origins,
        "second": blind,
        "suggestion": suggestion_for(question) if filters.suggestions and not blind else None,
        "reference": None if blind else reference_of(question),
        "seen": question.label_id or 0,
        "last": last.pk if last else 0,
        "query": filters.query,
        "progress": progress(filters.rows, request.user, second=filters.second),
        "waiting": waiting(filters.rows, request.user, second=filters.second).count(),
    }


def _address(filters: Filters, question: Question) -> str:
    return address_of("questions:labelling-item", filters.query, question.public_id)


MOST_BYTES = 32 * 1024 * 1024


@takes_uploads(Capability.EDIT_QUESTIONS)
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def suggestions(request: MemberRequest) -> HttpResponse:
    """Models and how often curators took what they suggested; a POST brings a file in."""
    problems: tuple[tuple[int, str], ...] = ()
    if request.method == "POST":
        check(request.user, Capability.EDIT_QUESTIONS)
        problems = _import(request)
        if not problems:
            return redirect("questions:labelling-suggestions")
    language = get_language() or "en"
    context = {
        "models": [_row(share) for share in model_shares()],
        "labels": [label.label(language) for label in Label],
        "problems": problems,
        "may_import": request.user.may(Capability.EDIT_QUESTIONS),
        "may_suggest": request.user.may(Capability.START_RUNS),
    }
    status = 400 if problems else 200
    return render(request, "questions/labelling/suggestions.html", context, status=status)


def _import(request: MemberRequest) -> tuple[tuple[int, str], ...]:
    file = request.FILES.get("file")
    if file is None:
        raise BadInput(_("Choose a file."), code="no_file")
    if file.size is None or file.size > MOST_BYTES:
        raise BadInput(_("The file is larger than 32 MB."), code="file_too_large")
    with one_file_of(request.user.pk):
        kept = import_suggestions(file, acting_user=request.user)  # type: ignore[arg-type]
    if not kept.problems:
        counts = {"new": kept.new, "same": kept.same}
        messages.success(request, _("Suggestions: %(new)d new, %(same)d already known.") % counts)
    return kept.problems


def _row(share: ModelShare) -> dict[str, object]:
    return {
        "share": share,
        "labels": [(share.taken.get(label, 0), share.compared.get(label, 0)) for label in Label],
    }
