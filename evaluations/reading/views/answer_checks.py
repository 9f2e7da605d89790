"""Checks of answers: what waits, what people found, who read the answers; samples and cases."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from evaluations.models import Response, Run
from evaluations.reading.forms.answer_checks import SampleForm, read_address
from evaluations.reading.selectors.answer_check_queue import (
    QueueChoice,
    counts,
    differences,
    waiting,
)
from evaluations.reading.selectors.answer_checks import looked_at, spans_of
from evaluations.reading.selectors.model_reading import unread_responses
from evaluations.reading.selectors.reading_labour import READERS, labour, read_runs, samples
from evaluations.reading.services.answer_cases import check_corrections, take_corrections
from evaluations.reading.services.answer_checks import draw_sample
from evaluations.runs.selectors.responses import pieces_of
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items

PAGE = 25
DIFFERENCES = 10


@require_safe
@requires(Capability.CHECK_ANSWERS)
def overview(request: MemberRequest) -> HttpResponse:
    """Show what waits for this person, what people found, and who read which run."""
    return render(request, "evaluations/reading/checks/overview.html", _context(request))


def _context(request: MemberRequest, form: SampleForm | None = None) -> dict[str, Any]:
    address = read_address(request.GET)
    run = address.choice.run
    waits = counts(request.user, run)
    runs = Paginator(read_runs(), PAGE).get_page(request.GET.get("page"))
    shown = [run] if run else list(runs)
    may_start = request.user.may(Capability.START_RUNS)
    return {
        "address": address,
        "readers": READERS,
        "runs": read_runs(),
        "page": runs,
        "waiting": [(source.value, waits[source]) for source in waits],
        # A response may wait for several reasons.
        "all_waiting": waiting(request.user, QueueChoice(None, run)).count(),
        "report": check_corrections(),
        "differences": len(differences(run)),
        "labour": labour(shown),
        "unread": _unread(shown) if may_start else [],
        "samples": samples(shown),
        "form": form or SampleForm(initial={"run": run}),
        "may_see_runs": request.user.may(Capability.SEE_RUNS),
    }


def _unread(runs: list[Run]) -> list[tuple[Run, int]]:
    """Return the runs with answers that a model could read, with the numbers."""
    found = [(run, unread_responses(run).count()) for run in runs]
    return [(run, n) for run, n in found if n]


@require_POST
@requires(Capability.CHECK_ANSWERS)
def sample(request: MemberRequest) -> HttpResponse:
    """Draw a random sample of what patterns read."""
    form = SampleForm(request.POST)
    if not form.is_valid():
        context = _context(request, form)
        return render(request, "evaluations/reading/checks/overview.html", context, status=400)
    said = form.cleaned_data
    drawn = draw_sample(
        said["run"],
        said["size"],
        acting_user=request.user,
        random_seed=said["random_seed"],
        key=str(said["key"] or ""),
    )
    words = ngettext(
        "%(n)d response was sampled from %(among)d with random seed %(seed)d.",
        "%(n)d responses were sampled from %(among)d with random seed %(seed)d.",
        drawn.size,
    )
    facts = {"n": drawn.size, "among": drawn.among, "seed": drawn.random_seed}
    messages.success(request, words % facts)
    return redirect(f"{reverse('checks:overview')}?run={drawn.run_id}")


@require_POST
@requires(Capability.CHECK_ANSWERS)
def cases(request: MemberRequest) -> HttpResponse:
    """Download the corrections as a file for ``check_cases``."""
    text = take_corrections(acting_user=request.user)
    answer = HttpResponse(text, content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="corrections.json"'
    return answer


@require_safe
@requires(Capability.CHECK_ANSWERS)
def difference_list(request: MemberRequest) -> HttpResponse:
    """List the responses with differing checks, of one run or of all."""
    run = read_address(request.GET).choice.run
    found = differences(run)
    page = Paginator(sorted(found), DIFFERENCES).get_page(request.GET.get("page"))
    rows = Response.objects.select_related("question__task").in_bulk(list(page))
    shown = [
        {
            "response": rows[key],
            "checks": found[key],
            "pieces": pieces_of(rows[key].text, spans_of(looked_at(found[key][0]))),
        }
        for key in page
    ]
    count_items(request.user, "response", (row["response"].public_id for row in shown))
    context = {"page": page, "rows": shown, "run": run}
    return render(request, "evaluations/reading/checks/differences.html", context)
