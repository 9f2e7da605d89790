"""The pages of searches for patterns, and what people decide about a pattern."""

from __future__ import annotations

import re
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from evaluations.models import MinedPattern, PatternSearch
from evaluations.reading.forms.patterns import SearchForm
from evaluations.reading.selectors import pattern_searches as reading
from evaluations.reading.selectors.pattern_precision import precisions
from evaluations.reading.selectors.reading_patterns import accepted_patterns
from evaluations.reading.services import pattern_decisions, pattern_searches
from evaluations.reading.tasks import ask_for_search
from evaluations.runs.selectors.runs import get_run
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.selectors import Progress
from gradeapp.common.background_work.views import WorkPages
from gradeapp.common.named import WorkStatus
from gradeapp.common.refusals import NotFound

# Leads decide how responses are read, as they decide how they are marked.
DECIDES = Capability.LEAD_ROUNDS


class SearchPages(WorkPages):
    """The searches of a run; the list also shows the patterns that count now."""

    at = {
        "one": "runs:pattern-search",
        "progress": "runs:pattern-progress",
        "stop": "runs:pattern-stop",
        "resume": "runs:pattern-resume",
    }
    folder = "evaluations/reading/patterns"
    list_id = "searches"
    sees = Capability.SEE_RUNS
    edits = DECIDES
    form = SearchForm
    missing = gettext_lazy("There is no such search.")
    stopping = gettext_lazy("The search stops at its next step. Nothing is saved.")
    stop_work = staticmethod(pattern_searches.stop_search)
    resume_work = staticmethod(pattern_searches.resume_search)
    progress_of = staticmethod(reading.progress)
    ask = staticmethod(ask_for_search)

    def rows(self, owner: int | None = None) -> Any:
        found = reading.searches()
        return found if owner is None else found.filter(run=get_run(owner))

    def start(self, form: Any, request: MemberRequest, owner: int | None) -> PatternSearch:
        run = get_run(owner)
        return pattern_searches.start_search(run, **form.cleaned_data, acting_user=request.user)

    def more_of_list(self, request: MemberRequest, owner: int | None) -> dict[str, Any]:
        return {"run": get_run(owner), "accepted": accepted_patterns()}

    def more(self, work: PatternSearch, progress: Progress) -> dict[str, Any]:
        return {
            "run": work.run,
            "done": work.status == WorkStatus.DONE,
            "unread": work.responses - work.covered,
        }

    def more_of_page(self, request: MemberRequest, work: PatternSearch) -> dict[str, Any]:
        figures = reading.figures_of(work)
        rows = [pattern.row for one in figures for pattern in one.patterns]
        return {
            "figures": figures,
            "patterns": len(rows),
            "precisions": precisions(work.run, rows),
            "left": reading.left_of(work),
            "paper_percent": round(100 * reading.PAPER_COVER),
            "paper_responses": reading.PAPER_RESPONSES,
        }


def found_pattern(pk: int) -> MinedPattern:
    """Return the pattern *pk*; raises NotFound where there is none."""
    pattern = MinedPattern.objects.filter(pk=pk).first()
    if pattern is None:
        raise NotFound(_("There is no such pattern."))
    return pattern


def seen(request: MemberRequest) -> int | None:
    """Return the key of the decision that the page showed, 0 for none; None where none was sent."""
    sent = request.POST.get("seen", "")
    return int(sent) if re.fullmatch(r"[0-9]{1,18}", sent) else None


@require_POST
@requires(DECIDES)
def accept(request: MemberRequest, pk: int) -> HttpResponse:
    """Read answers by a pattern from now on."""
    pattern = found_pattern(pk)
    pattern_decisions.accept_pattern(pattern, acting_user=request.user, seen=seen(request))
    said = _("Accepted. The next scoring uses this pattern where no built-in rule finds an answer.")
    messages.success(request, said)
    return redirect("runs:pattern-search", pattern.search_id)


@require_POST
@requires(DECIDES)
def retire(request: MemberRequest, pk: int) -> HttpResponse:
    """Read no answer by a pattern any more."""
    pattern = found_pattern(pk)
    pattern_decisions.retire_pattern(pattern, acting_user=request.user, seen=seen(request))
    messages.success(request, _("Retired. The next scoring no longer uses this pattern."))
    return redirect("runs:pattern-search", pattern.search_id)
