"""Pages of responses of all runs: the search, its file, and one question side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_scope, record_views
from evaluations.models import Response
from evaluations.runs.forms.found import SearchPageFilter
from evaluations.runs.selectors import found_responses as reading
from evaluations.runs.services.calls import calls_behind
from evaluations.runs.services.exports import note_responses_exported, noted
from gradeapp.accounts.confirmation import confirmed
from gradeapp.accounts.permissions import MemberRequest, exports, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.long_files import file_answer
from gradeapp.common.parameters import check_values
from questions.selectors.bank import image_addresses

SELECTS = ("dataset", "model", "condition", "outcome", "part")


@require_safe
@requires(Capability.SEE_RUNS)
def search_page(request: MemberRequest) -> HttpResponse:
    """Search the texts of the responses of all runs."""
    filters = SearchPageFilter(request.GET, queryset=reading.searchable())
    words, before = _said(filters)
    found = reading.search(filters.qs, words, before=before)
    record_scope(filters.scope(), acting_user=request.user, page="responses")
    count_items(request.user, "response", (row.public_id for row in found.rows))
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "filters": filters,
        "selects": [filters.form[name] for name in SELECTS],
        "kept": [(name, request.GET[name]) for name in ("run", "question") if name in request.GET],
        "found": found,
        "rows": reading.excerpts(found, words),
        "words": words,
        "first_page": before is None,
        "most_searched": reading.MOST_SEARCHED,
        "query": query.urlencode(),
        "may_export": request.user.may(Capability.EXPORT),
    }
    return render(request, "evaluations/runs/search.html", context)


@require_safe
@exports
@requires(Capability.EXPORT)
@confirmed
def search_export(request: MemberRequest) -> HttpResponse | StreamingHttpResponse:
    """Return what a search finds as JSON Lines; the export is recorded before the first line.

    With ``messages=yes`` each line has the calls behind the response, word for word.
    """
    filters = SearchPageFilter(request.GET, queryset=reading.searchable())
    check_values(filters)
    words, _before = _said(filters)
    user, asked = request.user, request.GET.dict()

    def lines() -> Iterator[bytes]:
        note_responses_exported(asked, filters.scope(), acting_user=user)
        found = reading.all_found(filters.qs, words)
        return noted(_lines(found, messages=asked.get("messages") == "yes"), asked, user)

    return file_answer(request, lines, media_type="application/x-ndjson", name="responses.jsonl")


def _lines(rows: Iterator[Response], *, messages: bool) -> Iterator[bytes]:
    for response in rows:
        shown = reading.exported(response)
        if messages:
            shown["calls"] = calls_behind(response)
        yield json.dumps(shown, ensure_ascii=False).encode() + b"\n"


def _said(filters: SearchPageFilter) -> tuple[str, int | None]:
    """Return the words to look for, and where the page before ended."""
    said: dict[str, Any] = filters.form.cleaned_data if filters.form.is_valid() else {}
    before = said.get("before")
    return said.get("q") or "", None if before is None else int(before)


@require_safe
@requires(Capability.SEE_RUNS)
def compare_page(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Show the responses to one question side by side; what the first does not have is marked."""
    question = reading.question_asked(public_id)
    wanted = [int(one) for one in request.GET.getlist("run") if one.isdecimal() and len(one) < 10]
    repeat = request.GET.get("repeat", "")
    number = int(repeat) if repeat.isdecimal() and 0 < len(repeat) < 6 else None
    beside = reading.side_by_side(question, list(dict.fromkeys(wanted)), number)
    shown = wanted or [one.response.run_id for one in beside]
    asked = reading.searchable().filter(question=question, run__in=shown)
    record_scope(asked, acting_user=request.user, page="responses")
    # The list of runs to choose from tells which of them have answered the question.
    answered = reading.searchable().filter(question=question).values_list("pk", flat=True)
    record_views(list(answered), acting_user=request.user, page="responses")
    count_items(request.user, "response", (one.response.public_id for one in beside))
    assert question.current is not None
    context = {
        "question": question,
        "revision": question.current,
        "images": image_addresses(question.task.dataset, question.current.images),
        "runs": reading.runs_with(question),
        "chosen": shown,
        "repeat": number,
        "beside": beside,
        "most": reading.MOST_BESIDE,
    }
    return render(request, "evaluations/runs/compare.html", context)
