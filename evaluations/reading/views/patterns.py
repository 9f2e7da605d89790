"""Searches for patterns: those of a run, one while it goes, and what people decide."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.models import MinedPattern, PatternSearch, Run
from evaluations.reading.forms.patterns import SearchForm
from evaluations.reading.selectors import pattern_searches as reading
from evaluations.reading.selectors.pattern_precision import precisions
from evaluations.reading.selectors.reading_patterns import accepted_patterns
from evaluations.reading.services import pattern_decisions, pattern_searches
from evaluations.reading.tasks import ask_for_search
from evaluations.runs.selectors.runs import get_run
from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.services import note_if_lost
from gradeapp.common.background_work.views import moving_part
from gradeapp.common.named import WorkStatus
from gradeapp.common.refusals import NotFound, Refusal

PAGE = 25
# Leads answer for how responses are read, as they answer for how they are marked.
DECIDES = Capability.LEAD_ROUNDS


def found(pk: int) -> PatternSearch:
    """The search *pk*; refuses where there is none."""
    search = reading.searches().filter(pk=pk).first()
    if search is None:
        raise NotFound(_("There is no such search."))
    return search


def found_pattern(pk: int) -> MinedPattern:
    """The pattern *pk*; refuses where there is none."""
    pattern = MinedPattern.objects.filter(pk=pk).first()
    if pattern is None:
        raise NotFound(_("There is no such pattern."))
    return pattern


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_RUNS)
def search_list(request: MemberRequest, pk: int) -> HttpResponse:
    """The searches of a run, the patterns that count now, and the form of a new search."""
    run = get_run(pk)
    form = SearchForm()
    if request.method == "POST":
        check(request.user, DECIDES)
        form = SearchForm(request.POST)
        if form.is_valid():
            try:
                search = start(form, run, request)
            except Refusal as refusal:
                form.add_error(None, str(refusal))
            else:
                return redirect("runs:pattern-search", search.pk)
    searches = reading.searches().filter(run=run)
    context = {
        "run": run,
        "form": form,
        "page": Paginator(searches, PAGE).get_page(request.GET.get("page")),
        "accepted": accepted_patterns(),
        "may_decide": request.user.may(DECIDES),
    }
    status = 400 if form.errors else 200
    return render(request, "evaluations/reading/patterns/list.html", context, status=status)


def start(form: SearchForm, run: Run, request: MemberRequest) -> PatternSearch:
    """Start what the form says, and tell the workers after the commit."""
    with transaction.atomic():
        search = pattern_searches.start_search(run, **form.cleaned_data, acting_user=request.user)
        transaction.on_commit(partial(ask_for_search, search.pk))
    return search


@require_safe
@requires(Capability.SEE_RUNS)
def search_page(request: MemberRequest, pk: int) -> HttpResponse:
    """One search: how far it is, what it found, and what stays unread."""
    search = found(pk)
    context = progress_context(request, search)
    figures = reading.figures_of(context["search"])
    rows = [pattern.row for one in figures for pattern in one.patterns]
    context |= {
        "figures": figures,
        "patterns": len(rows),
        "precisions": precisions(search.run, rows),
        "left": reading.left_of(context["search"]),
        "paper_percent": round(100 * reading.PAPER_COVER),
        "paper_responses": reading.PAPER_RESPONSES,
    }
    return render(request, "evaluations/reading/patterns/search.html", context)


@require_safe
@requires(Capability.SEE_RUNS)
def search_progress(request: MemberRequest, pk: int) -> HttpResponse:
    """The moving part of the page; the whole page anew once the state is another one."""
    context = progress_context(request, found(pk))
    return moving_part(request, "evaluations/reading/patterns/_progress.html", context)


def progress_context(request: MemberRequest, search: PatternSearch) -> dict[str, Any]:
    """What page and fragment show alike."""
    now = timezone.now()
    note_if_lost(search, now)
    return {
        "search": search,
        "run": search.run,
        "state": search.status,
        "done": search.status == WorkStatus.DONE,
        "unread": search.responses - search.covered,
        "progress": reading.progress(search, now),
        "goes_on": search.goes_on,
        "may_decide": request.user.may(DECIDES),
    }


@require_POST
@requires(DECIDES)
def stop(request: MemberRequest, pk: int) -> HttpResponse:
    """Stop at the next step."""
    pattern_searches.stop_search(found(pk), acting_user=request.user)
    messages.success(request, _("It stops at its next step; nothing is kept of it."))
    return redirect("runs:pattern-search", pk)


@require_POST
@requires(DECIDES)
def resume(request: MemberRequest, pk: int) -> HttpResponse:
    """Search again by the same random seed."""
    pattern_searches.resume_search(found(pk), acting_user=request.user)
    transaction.on_commit(partial(ask_for_search, pk))
    return redirect("runs:pattern-search", pk)


@require_POST
@requires(DECIDES)
def accept(request: MemberRequest, pk: int) -> HttpResponse:
    """Read answers by a pattern from now on."""
    pattern = found_pattern(pk)
    pattern_decisions.accept_pattern(pattern, acting_user=request.user)
    said = _("Accepted: what no written rule reads is read by it when responses are scored next.")
    messages.success(request, said)
    return redirect("runs:pattern-search", pattern.search_id)


@require_POST
@requires(DECIDES)
def retire(request: MemberRequest, pk: int) -> HttpResponse:
    """Read no answer by a pattern any more."""
    pattern = found_pattern(pk)
    pattern_decisions.retire_pattern(pattern, acting_user=request.user)
    messages.success(request, _("Retired: it reads nothing when responses are scored next."))
    return redirect("runs:pattern-search", pattern.search_id)
