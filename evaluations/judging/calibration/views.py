"""The page of a judge's calibration."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from evaluations.facts.looks import record_scope
from evaluations.judging.calibration.forms import CalibrationFilter
from evaluations.judging.calibration.selectors import calibration_page, judged_datasets
from evaluations.judging.selectors import runs_left_out
from evaluations.models import Judge, Response
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.refusals import BadInput


@require_safe
@requires(Capability.SEE_JUDGEMENTS)
def judge_calibration(request: MemberRequest, judge_id: int) -> HttpResponse:
    """Show how a judge's marks compare with the teachers', and where they differ most."""
    judge = get_object_or_404(Judge, pk=judge_id)
    datasets = judged_datasets(judge)
    form = CalibrationFilter(request.GET.dict(), datasets)
    may_export = request.user.may(Capability.EXPORT)
    context = {"judge": judge, "form": form, "page": None, "may_export": may_export}
    if datasets:
        if not form.is_valid():
            raise BadInput(_("Choose a dataset and a key that exist."))
        dataset = form.datasets[form.cleaned_data["dataset"]]
        page = calibration_page(judge, dataset, form.cleaned_data["by"])
        seen = [one.response.pk for one in page.disagreements]
        count_items(request.user, "mark", seen)
        asked = Response.objects.filter(judgements__judge=judge, run__dataset=dataset)
        record_scope(asked, acting_user=request.user, page="judgements")
        context |= {"page": page, "dataset": dataset, "by": form.cleaned_data["by"]}
        context["left_out"] = runs_left_out(judge, dataset)
    return render(request, "evaluations/judging/calibration/calibration.html", context)
