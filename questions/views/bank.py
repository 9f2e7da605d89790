"""The question bank: the list, one question, its images."""

from __future__ import annotations

from uuid import UUID

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from gradeapp.accounts.permissions import check, requires
from gradeapp.accounts.roles import Capability
from questions.forms.filters import QuestionFilter
from questions.selectors.bank import image, image_addresses, question_list, question_whole

PAGE = 50


@require_safe
@requires(Capability.SEE_QUESTIONS)
def question_page_list(request: HttpRequest) -> HttpResponse:
    """Questions by filter; the filters stand in the address."""
    filters = QuestionFilter(request.GET, queryset=question_list())
    page = Paginator(filters.qs, PAGE).get_page(request.GET.get("page"))
    context = {"filters": filters, "page": page}
    return render(request, "questions/bank/list.html", context)


@require_safe
@requires(Capability.SEE_QUESTIONS)
def question_page(request: HttpRequest, public_id: UUID) -> HttpResponse:
    """One question with its key, analysis, rubric and revisions."""
    question = question_whole(public_id)
    if question is None or question.current is None:
        raise Http404
    images = image_addresses(question.task.dataset, question.current.images)
    context = {"question": question, "revision": question.current, "images": images}
    return render(request, "questions/bank/question.html", context)


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
