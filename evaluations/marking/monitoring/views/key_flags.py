"""The page of questions whose answer key teachers called wrong, for curators."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_views
from evaluations.marking.monitoring.selectors.key_flags import flagged_questions, key_marks
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from questions.models import Question

PAGE = 50


@require_safe
@requires(Capability.CHECK_ANSWERS)
def key_flags(request: MemberRequest) -> HttpResponse:
    """List the questions with the number of responses and teachers; who looks is noted."""
    page = Paginator(flagged_questions(), PAGE).get_page(request.GET.get("page"))
    shown = [row["question"] for row in page]
    marks = key_marks().filter(slot__answer__question__in=shown)
    seen = marks.values_list("slot__answer__response", flat=True).distinct()
    record_views(list(seen), acting_user=request.user, page="key flags")
    questions = Question.objects.select_related("task__dataset", "current").in_bulk(shown)
    rows = [{**row, "question": questions[row["question"]]} for row in page]
    context = {"rows": rows, "page": page}
    return render(request, "evaluations/marking/monitoring/key_flags.html", context)
