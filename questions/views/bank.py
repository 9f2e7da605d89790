"""The question bank: the list and its images."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from questions.forms.bulk_labels import BulkLabelForm
from questions.forms.filter_chips import chips, query_of
from questions.forms.filters import QuestionFilter
from questions.models import Question
from questions.rules.search_words import Piece, beginning, search_words
from questions.selectors.bank import by_place, image, shown_rows
from questions.selectors.saved_views import views_of
from questions.selectors.search import hit

PAGE = 50
SEEN = 36  # so many characters of a row's first line are in sight on any screen


@require_safe
@requires(Capability.SEE_QUESTIONS)
def question_page_list(request: MemberRequest) -> HttpResponse:
    """Questions by filter; the filters stand in the address. htmx gets the results alone."""
    filters = QuestionFilter(request.GET, queryset=by_place())
    keys = filters.qs.values_list("pk", flat=True)
    words = search_words(filters.form.cleaned_data.get("q") or "")
    # A search reads its texts one time, for the number and for the page: all its keys at once.
    paginator = Paginator(list(keys) if words else keys, PAGE)
    page = paginator.get_page(request.GET.get("page"))
    query = query_of(filters)
    context = {
        "filters": filters,
        "page": page,
        "rows": [shown(row, words) for row in shown_rows(list(page.object_list))],
        "chips": chips(filters),
        "query": query,
        "bank_is_empty": not paginator.count and not Question.objects.exists(),
        "bulk_form": BulkLabelForm() if request.user.may(Capability.EDIT_QUESTIONS) else None,
        "may_suggest": request.user.may(Capability.START_RUNS),
    }
    if request.htmx.target == "questions" and not request.htmx.history_restore_request:
        response = render(request, "questions/bank/_questions.html", context)
        response["HX-Push-Url"] = _address(query, page.number)
        return response
    return render(
        request, "questions/bank/list.html", context | {"saved_views": views_of(request.user)}
    )


def _address(query: str, number: int) -> str:
    """The list's own address, without the filters that choose nothing."""
    parts = [query, f"page={number}" if number > 1 else ""]
    return "?".join(filter(None, [reverse("questions:list"), "&".join(filter(None, parts))]))


class ShownRow(NamedTuple):
    """A question with the beginning of its text, and where that shows no hit, the line of one."""

    question: Question
    title: list[Piece]
    snippet: list[Piece]


def shown(question: Question, words: list[str]) -> ShownRow:
    """What a row says of *question* to one who looks for *words*."""
    revision = question.current
    if revision is None:
        return ShownRow(question, [], [])
    title = beginning(revision.stem, words)
    seen = title[:2]  # a hit further on may be cut off at the end of the line
    found = any(marked for _text, marked in seen) and len(seen[0][0]) < SEEN
    return ShownRow(question, title, [] if found or not words else hit(revision, words))


@require_safe
def question_image(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """An image of the bank, for those who read questions and those who mark answers."""
    if not request.user.may(Capability.MARK):
        check(request.user, Capability.SEE_QUESTIONS)
    asset = image(public_id)
    if asset is None:
        raise Http404
    response = HttpResponse(bytes(asset.content), content_type=asset.media_type)
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["X-Content-Type-Options"] = "nosniff"
    return response
