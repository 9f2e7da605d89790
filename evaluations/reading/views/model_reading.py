"""Letting a model read the unread answers of a run: the form, what it will cost, the start."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from evaluations.reading.forms.model_reading import ReadForm
from evaluations.reading.selectors.model_reading import unread_responses
from evaluations.reading.services.model_reading import estimate_reading, start_reading
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.views.run_starts import start_page
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.START_RUNS)
def read(request: MemberRequest, pk: int) -> HttpResponse:
    """Show the form with the number of calls and the cost; a POST starts the run."""
    answered = get_run(pk)
    form = ReadForm.of(request)
    return start_page(
        request,
        form,
        "evaluations/reading/model_reading/new.html",
        {"run": answered, "unread": unread_responses(answered).count()},
        estimate=lambda: estimate_reading(form.wanted(answered)),
        start=lambda **paid: start_reading(form.wanted(answered), **paid),
    )
