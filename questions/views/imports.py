"""Imports: the list and the upload form, one import while it goes, and what people do to it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads
from gradeapp.refusals import NotFound, Refusal
from questions.forms.imports import UploadForm
from questions.models import ImportBatch
from questions.rules.vocabulary import ImportStatus
from questions.selectors import imports as reading
from questions.services import import_jobs
from questions.services.background_work import note_if_lost
from questions.services.uploads import take_upload
from questions.tasks import ask_for_import
from questions.views.background_work import moving_part

PAGE = 25
PROBLEMS = 100


def found(pk: int) -> ImportBatch:
    """The import *pk*; refuses where there is none."""
    batch = reading.imports().filter(pk=pk).first()
    if batch is None:
        raise NotFound(_("There is no such import."))
    return batch


@takes_uploads(Capability.EDIT_QUESTIONS)
@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def import_list(request: MemberRequest) -> HttpResponse:
    """Past imports, and the form that takes a new one."""
    form = UploadForm()
    if request.method == "POST":
        check(request.user, Capability.EDIT_QUESTIONS)
        form = UploadForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                batch = upload(form, request)
            except Refusal as refusal:
                form.add_error("files", str(refusal))
            else:
                return redirect("questions:import", batch.pk)
    page = Paginator(reading.imports(), PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "may_edit": request.user.may(Capability.EDIT_QUESTIONS),
        "megabytes": settings.IMPORT_MAX_UPLOAD_MB,
        "most_bytes": settings.IMPORT_MAX_UPLOAD_MB << 20,
    }
    status = 400 if form.errors else 200
    return render(request, "questions/imports/list.html", context, status=status)


def upload(form: UploadForm, request: MemberRequest) -> ImportBatch:
    """Keep the files, and tell the workers after the commit."""
    said = form.cleaned_data
    with transaction.atomic():
        batch = take_upload(said["files"], said["source"], acting_user=request.user)
        transaction.on_commit(partial(ask_for_import, batch.pk))
    return batch


@require_safe
@requires(Capability.SEE_QUESTIONS)
def import_page(request: MemberRequest, pk: int) -> HttpResponse:
    """One import: its progress, what it found in each file, and what can be done with it."""
    batch = found(pk)
    context = import_context(request, batch)
    if batch.kind == "questions" and batch.dataset is not None:
        context["held"] = reading.held_back(batch.dataset)
    return render(request, "questions/imports/import.html", context)


@require_safe
@requires(Capability.SEE_QUESTIONS)
def import_progress(request: MemberRequest, pk: int) -> HttpResponse:
    """The moving part of the page; the whole page anew once the state is another one."""
    context = import_context(request, found(pk))
    return moving_part(request, "questions/imports/_progress.html", context)


def import_context(request: MemberRequest, batch: ImportBatch) -> dict[str, Any]:
    """What page and fragment show alike."""
    now = timezone.now()
    note_if_lost(batch, now)
    progress, totals = reading.progress(batch, now), reading.totals(batch)
    pages = Paginator(reading.import_problems(batch), PROBLEMS)
    return {
        "batch": batch,
        "state": batch.status,
        "importing": batch.confirmed_at is not None,
        "progress": progress,
        "totals": totals,
        "taken_files": max(0, progress.done - totals.refused),
        "files": reading.import_files(batch)[:500],
        "problems": pages.get_page(request.GET.get("page")),
        "may_edit": request.user.may(Capability.EDIT_QUESTIONS),
        "checked": batch.status == ImportStatus.CHECKED,
        "goes_on": batch.goes_on and bool(batch.folder),
    }


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def confirm(request: MemberRequest, pk: int) -> HttpResponse:
    """Import what was checked."""
    batch = found(pk)
    import_jobs.confirm_import(batch, acting_user=request.user)
    ask_for_import(pk)
    return redirect("questions:import", pk)


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def stop(request: MemberRequest, pk: int) -> HttpResponse:
    """Stop between two files."""
    import_jobs.stop_import(found(pk), acting_user=request.user)
    messages.success(request, _("It stops after the file that is being read; no file is halved."))
    return redirect("questions:import", pk)


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def resume(request: MemberRequest, pk: int) -> HttpResponse:
    """Go on; what was written already stays as it is."""
    import_jobs.resume_import(found(pk), acting_user=request.user)
    ask_for_import(pk)
    return redirect("questions:import", pk)


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def discard(request: MemberRequest, pk: int) -> HttpResponse:
    """Delete the uploaded files."""
    import_jobs.discard_import(found(pk), acting_user=request.user)
    messages.success(request, _("The uploaded files are deleted."))
    return redirect("questions:import", pk)
