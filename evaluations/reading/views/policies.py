"""How a run's objective rate moves from the published rules to the strict ones."""

from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from evaluations.reading.rules.scoring.ablation import Reason, ablation_table
from evaluations.reading.selectors.ablation import ablation, quotations
from evaluations.reading.selectors.reading_patterns import scored_by_other_patterns
from evaluations.reading.services.exports import note_run_export
from evaluations.reading.services.gold_check import check_golds
from evaluations.reading.views.rescoring import scored_before
from evaluations.runs.selectors.runs import get_run
from gradeapp.accounts.confirmation import confirmed
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.csv_file import manifest, sha256
from gradeapp.common.csv_file import render as render_csv
from gradeapp.common.refusals import BadInput

PAGE = 50


@require_safe
@requires(Capability.SEE_RUNS)
def policies_page(request: MemberRequest, pk: int) -> HttpResponse:
    """Show both rates of a run, the reasons between them, and the responses that moved."""
    run = get_run(pk)
    made = ablation(run)
    reason = wanted_reason(request.GET.get("reason", ""))
    page = Paginator(made.because_of(reason), PAGE).get_page(request.GET.get("page"))
    words = quotations(list(page.object_list))
    count_items(request.user, "mark", (one.response for one in page.object_list))
    context = {
        "run": run,
        "made": made,
        "reason": reason,
        "page": page,
        "lines": [(one, words.get(one.response, {})) for one in page.object_list],
        "may_export": request.user.may(Capability.EXPORT),
        "outdated": scored_before(run),
        "by_patterns": scored_by_other_patterns(run.responses.all()).count(),
    }
    return render(request, "evaluations/reading/policies.html", context)


@require_safe
@requires(Capability.EXPORT)
@confirmed
def policies_export(request: MemberRequest, pk: int) -> HttpResponse:
    """Export the same responses as CSV; the export is recorded."""
    run = get_run(pk)
    items = ablation(run).items
    table = ablation_table(run.pk, items, quotations(items))
    content = render_csv(table)
    parameters = {"run": run.pk, "dataset": run.dataset.slug, "model": str(run.language_model)}
    made = manifest(len(table.rows), sha256(content), parameters)
    note_run_export(run, "policies", made, acting_user=request.user)
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.pk}-policies.csv"'
    return response


@require_POST
@requires(Capability.SEE_REPORTS)
@requires(Capability.EDIT_QUESTIONS)
def golds(request: MemberRequest) -> HttpResponse:
    """Check the strict scorer on the keys of a dataset; what fails goes to the gate."""
    dataset = request.POST.get("dataset", "")
    made = check_golds(dataset, acting_user=request.user).datasets[0]
    failed = ngettext(
        "Questions checked: %(items)s. Answer keys that do not score as correct: %(n)d.",
        "Questions checked: %(items)s. Answer keys that do not score as correct: %(n)d.",
        made.failed_items,
    ) % {"items": f"{made.items:,}", "n": made.failed_items}
    messages.success(request, failed)
    return redirect(reverse("reports:overview") + "?" + urlencode({"dataset": dataset}))


def wanted_reason(asked: str) -> Reason | None:
    """Return the reason named *asked*, None for all; raise BadInput for an unknown one."""
    if not asked:
        return None
    if asked not in list(Reason):
        names = {"value": asked, "known": ", ".join(Reason)}
        raise BadInput(_("There is no “%(value)s”; choose one of: %(known)s.") % names)
    return Reason(asked)
