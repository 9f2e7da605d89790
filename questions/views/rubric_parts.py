"""The drafts of one task in a list: looked at, deselected, accepted in one go."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput
from questions.forms import rubric_parts as forms
from questions.models import Task
from questions.selectors.rubric_parts import unrated_items
from questions.services.rubric_parts import RefusedWishes, accept_rubrics


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def drafts(request: MemberRequest, pk: int) -> HttpResponse:
    """The items of a task without an accepted rubric; ``divide`` divides unknown marks evenly."""
    if request.method == "POST":
        check(request.user, Capability.ACCEPT_RUBRICS)
    task = get_object_or_404(Task.objects.select_related("dataset"), pk=pk)
    if request.method != "POST":
        return _page(request, task)
    try:
        accepted = accept_rubrics(
            task, forms.wishes(request.POST), acting_user=request.user, now=timezone.now()
        )
    except BadInput as refusal:
        return _page(request, task, request.POST, refusal)
    said = ngettext("%(n)s rubric is now in use.", "%(n)s rubrics are now in use.", accepted)
    messages.success(request, said % {"n": accepted})
    return redirect("questions:rubric-parts", task.pk)


def _page(
    request: MemberRequest,
    task: Task,
    typed: QueryDict | None = None,
    refusal: BadInput | None = None,
) -> HttpResponse:
    divide = "divide" in (request.GET if typed is None else typed)
    items = unrated_items(task, divide=divide)
    sentences = refusal.sentences if isinstance(refusal, RefusedWishes) else {}
    shown = {item.question.public_id for item in items if item.in_parts}
    context = {
        "task": task,
        "gone": [sentence for key, sentence in sentences.items() if key not in shown][:3],
        "divide": divide,
        "nothing": {},
        "rows": forms.rows([item for item in items if item.in_parts], typed, sentences),
        "whole": [item for item in items if not item.in_parts],
        "ready": sum(item.ready for item in items),
        "may_accept": request.user.may(Capability.ACCEPT_RUBRICS),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 200
    return render(request, "questions/rubrics/drafts.html", context, status=status)
