"""Rubrics of the whole bank: how far they are, drafts that wait, files in and out."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, exports, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads
from gradeapp.common.long_files import place_for_a_file
from gradeapp.common.one_file import one_file_of
from gradeapp.common.refusals import BadInput
from questions.forms.rubrics import DatasetForm, RubricFileForm
from questions.rules.rubric_files import RubricFor, write_csv, write_json
from questions.selectors.rubric_parts import task_rubrics
from questions.selectors.rubrics import accepted_rubrics, dataset_rubrics, waiting_drafts
from questions.services.rubrics import import_rubrics, note_export, propose_drafts

PAGE = 30


@require_safe
@requires(Capability.SEE_QUESTIONS)
def bank(request: MemberRequest) -> HttpResponse:
    """Datasets with their counts, drafts that wait for a person, and the import."""
    return _bank(request, RubricFileForm())


@takes_uploads(Capability.EDIT_QUESTIONS)
@require_POST
@requires(Capability.EDIT_QUESTIONS)
def import_file(request: MemberRequest) -> HttpResponse:
    """Take a file of rubrics, whole or not at all."""
    form = RubricFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _bank(request, form, status=400)
    name = form.cleaned_data["file"].name
    try:
        with one_file_of(request.user.pk):
            done = import_rubrics(
                form.content(),
                name,
                acting_user=request.user,
                accept=form.cleaned_data["accept"],
                now=timezone.now(),
            )
    except BadInput as refusal:
        form.add_error("file", str(refusal))
        return _bank(request, form, status=refusal.status)
    said = ngettext(
        "%(file)s: %(new)s new version; already present: %(same)s.",
        "%(file)s: %(new)s new versions; already present: %(same)s.",
        done.new,
    )
    messages.success(request, said % {"file": name, "new": done.new, "same": done.same})
    return redirect("questions:rubric-bank")


@require_safe
@exports
@requires(Capability.SEE_QUESTIONS)
def export(request: MemberRequest) -> HttpResponse:
    """The rubrics that count, of one ``dataset`` or of all, as CSV or JSON."""
    dataset = request.GET.get("dataset", "")
    name = f"rubrics-{dataset}" if dataset else "rubrics"
    with place_for_a_file():
        rubrics = list(accepted_rubrics(dataset))
        file = rubric_file(rubrics, name, request.GET.get("format", "csv"))
    note_export(acting_user=request.user, dataset=dataset, rubrics=len(rubrics))
    return file


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def propose(request: MemberRequest) -> HttpResponse:
    """Drafts for the items of a dataset that have no rubric and whose key says the marks."""
    form = DatasetForm(request.POST)
    if not form.is_valid():
        raise BadInput(_("There is no such dataset."))
    done = propose_drafts(form.cleaned_data["dataset"], acting_user=request.user)
    said = ngettext(
        "%(drafted)s draft created. Without a rubric: %(items)s; of these, answer "
        "keys with marks: %(marks)s.",
        "%(drafted)s drafts created. Without a rubric: %(items)s; of these, answer "
        "keys with marks: %(marks)s.",
        done.drafted,
    )
    counts = {"drafted": done.drafted, "items": done.items, "marks": done.with_marks}
    messages.success(request, said % counts)
    return redirect("questions:rubric-bank")


def rubric_file(rubrics: Iterable[RubricFor], name: str, kind: str) -> HttpResponse:
    """A download; BadInput for a format that there is not."""
    if kind not in ("csv", "json"):
        raise BadInput(_("The file format must be csv or json."))
    content = write_csv(rubrics) if kind == "csv" else write_json(rubrics)
    types = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
    response = HttpResponse(content, content_type=types[kind])
    response["Content-Disposition"] = content_disposition_header(True, f"{name}.{kind}")
    return response


def _bank(request: MemberRequest, form: RubricFileForm, status: int = 200) -> HttpResponse:
    context = {
        "datasets": dataset_rubrics(),
        "tasks": task_rubrics(),
        "page": Paginator(waiting_drafts(), PAGE).get_page(request.GET.get("page")),
        "form": form,
        "can_edit": request.user.may(Capability.EDIT_QUESTIONS),
        "may_suggest": request.user.may(Capability.START_RUNS),
    }
    return render(request, "questions/rubrics/bank.html", context, status=status)
