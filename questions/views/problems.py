"""The gate's pages: problems by code, and one problem with both versions and its decisions."""

from __future__ import annotations

import csv
import io
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from gradeapp.accounts.permissions import MemberRequest, check, exports, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.csv_cells import BOM, cell
from gradeapp.common.long_files import headers_of, place_for_a_file
from gradeapp.common.parameters import check_values, refuse_unknown
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.forms.problems import DecisionForm, ProblemFilter
from questions.models import ItemProblem, QuestionRevision
from questions.rules.vocabulary import Decision
from questions.selectors.gate import (
    counts_by_code,
    decisions_of,
    mirrored,
    problem_list,
    problem_whole,
    shown_problems,
)
from questions.services.decisions import decide
from questions.services.exports import note_problems
from questions.templatetags.problems import problem_words, version

PAGE = 50
CSV = "text/csv; charset=utf-8"
FILTERS = ("dataset", "code", "pairs", "quarantines", "state")
COLUMNS = (
    *("problem", "code", "quarantines", "dataset", "task", "id", "key", "detail"),
    *("other_dataset", "other_task", "other_id", "other_key", "decision"),
)


def query_of(data: QueryDict) -> str:
    """The filters that are set, as a query."""
    kept = QueryDict(mutable=True)
    for name in FILTERS:
        if data.get(name):
            kept[name] = data[name]
    return kept.urlencode()


@require_safe
@requires(Capability.SEE_QUESTIONS)
def problems(request: MemberRequest) -> HttpResponse:
    """Problems by code with their counts; the filters stand in the address."""
    filters = ProblemFilter(request.GET, queryset=problem_list())
    page = Paginator(shown_problems(filters.qs), PAGE).get_page(request.GET.get("page"))
    without_code = request.GET.copy()
    without_code.pop("code", None)
    # What is decided stays in the counts: it says how far the work is.
    every_state = without_code.copy()
    every_state["state"] = "all"
    context = {
        "filters": filters,
        "page": page,
        "counts": counts_by_code(ProblemFilter(every_state, queryset=problem_list()).qs),
        "code": request.GET.get("code", ""),
        "query": query_of(request.GET),
        "query_without_code": query_of(without_code),
    }
    return render(request, "questions/problems/list.html", context)


@require_safe
@exports
@requires(Capability.SEE_QUESTIONS)
def export(request: MemberRequest) -> HttpResponse:
    """The list as CSV, by the same filters."""
    refuse_unknown(request.GET, ProblemFilter)
    filters = ProblemFilter(request.GET, queryset=problem_list())
    check_values(filters)
    if request.method == "HEAD":
        return headers_of("problems.csv", CSV)
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    rows = 0
    with place_for_a_file():
        for problem in shown_problems(filters.qs):
            writer.writerow([cell(value) for value in problem_row(problem)])
            rows += 1
    content = (BOM + buffer.getvalue()).encode("utf-8", "backslashreplace")
    note_problems(rows, content, request.GET.dict(), acting_user=request.user)
    response = HttpResponse(content, content_type=CSV)
    response["Content-Disposition"] = 'attachment; filename="problems.csv"'
    return response


def problem_row(problem: Any) -> list[str]:
    """One problem as the columns of the file."""
    yes_no = "yes" if problem.quarantines else "no"
    head = [str(problem.pk), problem.code, yes_no]
    return [
        *head,
        *item_columns(problem.revision, problem.question),
        problem_words(problem),
        *(item_columns(problem.other, problem.other.question) if problem.other else [""] * 4),
        problem.decided or "",
    ]


def item_columns(revision: QuestionRevision, question: Any) -> list[str]:
    """Dataset, task, id and key of one item."""
    task = question.task
    keys = " ".join(revision.answer_key)
    return [task.dataset.slug, task.slug, question.external_id, keys]


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def problem_page(request: MemberRequest, pk: int) -> HttpResponse:
    """One problem with both versions side by side; a POST decides and shows the next."""
    if request.method == "POST":
        check(request.user, Capability.EDIT_QUESTIONS)
    problem = problem_whole(pk)
    if problem is None or problem.question.current is None:
        raise NotFound(_("There is no such problem."))
    counting = {"seen_decision": problem.decision_id or 0}
    form = DecisionForm(problem.question.current, request.POST or None, initial=counting)
    status = 0
    if request.method == "POST" and form.is_valid():
        after = neighbours(problem, request.GET)[1]
        try:
            save_decision(problem, form, request)
        except BadInput as refusal:
            form.add_error(None, str(refusal))
        except Conflict as refusal:
            status = refusal.status
            if refusal.code != "problem_gone":
                problem.question.refresh_from_db(fields=["current"])
                problem.refresh_from_db(fields=["decision"])
                form = form.moved_to(problem.question.current, problem.decision_id or 0)
            form.add_error(None, str(refusal))
        else:
            messages.success(request, _("The decision was saved."))
            return redirect(address(after, request.GET) if after else list_address(request.GET))
    context = page_context(problem, request) | {"form": form}
    status = status or (400 if form.errors else 200)
    return render(request, "questions/problems/problem.html", context, status=status)


def save_decision(problem: ItemProblem, form: DecisionForm, request: MemberRequest) -> None:
    """Write what the form says."""
    decide(
        problem,
        Decision(form.cleaned_data["decision"]),
        form.cleaned_data["reason"],
        acting_user=request.user,
        repair=form.repair(),
        seen=form.cleaned_data["seen"],
        seen_decision=form.cleaned_data["seen_decision"],
    )


def page_context(problem: ItemProblem, request: MemberRequest) -> dict[str, Any]:
    """What the page shows beside the form."""
    before, after = neighbours(problem, request.GET)
    current = problem.question.current
    other = problem.other or (current if current != problem.revision else None)
    return {
        "problem": problem,
        "versions": version(problem.revision, other, compared=not problem.detail.get("parts")),
        "of_pair": problem.other is not None,
        "mirrored": mirrored(problem),
        "decisions": decisions_of(problem),
        "is_current": current == problem.revision,
        "may_decide": request.user.may(Capability.EDIT_QUESTIONS),
        "before": address(before, request.GET) if before else "",
        "after": address(after, request.GET) if after else "",
        "query": query_of(request.GET),
    }


def neighbours(problem: ItemProblem, data: QueryDict) -> tuple[int | None, int | None]:
    """The problems before and after this one in the list that was come from."""
    filters = ProblemFilter(data, queryset=problem_list())
    keys = list(filters.qs.values_list("pk", flat=True))
    if problem.pk not in keys:
        return None, keys[0] if keys else None
    at = keys.index(problem.pk)
    return (keys[at - 1] if at else None), (keys[at + 1] if at + 1 < len(keys) else None)


def address(pk: int, data: QueryDict) -> str:
    """The page of a problem, with the filters of the list."""
    return "?".join(filter(None, [reverse("questions:problem", args=[pk]), query_of(data)]))


def list_address(data: QueryDict) -> str:
    """The list, with its filters."""
    return "?".join(filter(None, [reverse("questions:problems"), query_of(data)]))
