"""Imports: the list and the upload form, one import while it goes, and what people do to it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads
from gradeapp.common.background_work.services import note_if_lost
from gradeapp.common.background_work.views import moving_part
from gradeapp.common.refusals import NotFound, Refusal
from questions.forms.imports import UploadForm
from questions.models import ImportBatch
from questions.rules.vocabulary import ImportStatus
from questions.selectors import imports as reading
from questions.services import import_jobs
from questions.services.uploads import take_upload
from questions.tasks import ask_for_import

PAGE = 25
PROBLEMS = 100


class ImportPages:
    """The pages of one kind of imports; `evaluations` has a subclass for answers.

    ``space`` is the namespace of their addresses, which have the same names in every kind;
    ``templates`` the folder of list.html, import.html and _progress.html.
    """

    kind = reading.QUESTIONS
    space = "questions"
    templates = "questions/imports"
    sees = Capability.SEE_QUESTIONS
    edits = Capability.EDIT_QUESTIONS
    form: type[UploadForm] = UploadForm

    def take(self, said: dict[str, Any], request: MemberRequest) -> ImportBatch:
        """Keep the uploaded files."""
        return take_upload(said["files"], said["source"], acting_user=request.user)

    def ask(self, pk: int) -> None:
        """Tell the workers of an import."""
        ask_for_import(pk)

    def totals(self, batch: ImportBatch) -> Any:
        """The sums over the files of an import, for the page."""
        return reading.totals(batch)

    def urls(self) -> list[URLPattern]:
        """The addresses of these pages."""

        def shows(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
            return require_safe(requires(self.sees)(view))

        def acts(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
            return require_POST(requires(self.edits)(view))

        both = require_http_methods(["GET", "HEAD", "POST"])(requires(self.sees)(self.list_page))
        return [
            path("", takes_uploads(self.edits)(both), name="imports"),
            path("<int:pk>/", shows(self.import_page), name="import"),
            path("<int:pk>/progress/", shows(self.progress), name="import-progress"),
            path("<int:pk>/import/", acts(self.confirm), name="import-confirm"),
            path("<int:pk>/stop/", acts(self.stop), name="import-stop"),
            path("<int:pk>/resume/", acts(self.resume), name="import-resume"),
            path("<int:pk>/discard/", acts(self.discard), name="import-discard"),
        ]

    # ---- looking ----

    def list_page(self, request: MemberRequest) -> HttpResponse:
        """Past imports, and the form that takes a new one."""
        form = self.form()
        if request.method == "POST":
            check(request.user, self.edits)
            form = self.form(request.POST, request.FILES)
            if form.is_valid():
                try:
                    with transaction.atomic():
                        batch = self.take(form.cleaned_data, request)
                        transaction.on_commit(partial(self.ask, batch.pk))
                except Refusal as refusal:
                    form.add_error("files", str(refusal))
                else:
                    return redirect(f"{self.space}:import", batch.pk)
        found = reading.imports(self.kind)
        context = {
            "form": form,
            "page": Paginator(found, PAGE).get_page(request.GET.get("page")),
            "may_edit": request.user.may(self.edits),
            "megabytes": settings.IMPORT_MAX_UPLOAD_MB,
            "most_bytes": settings.IMPORT_MAX_UPLOAD_MB << 20,
            "at": self.addresses(),
        }
        status = 400 if form.errors else 200
        return render(request, f"{self.templates}/list.html", context, status=status)

    def import_page(self, request: MemberRequest, pk: int) -> HttpResponse:
        """One import: its progress, what it found in each file, and what can be done with it."""
        batch = self.found(pk)
        context = self.context(request, batch)
        if batch.kind == reading.QUESTIONS and batch.dataset is not None:
            context["held"] = reading.held_back(batch.dataset)
        return render(request, f"{self.templates}/import.html", context)

    def progress(self, request: MemberRequest, pk: int) -> HttpResponse:
        """The moving part of the page; the whole page anew once the state is another one."""
        context = self.context(request, self.found(pk))
        return moving_part(request, f"{self.templates}/_progress.html", context)

    def found(self, pk: int) -> ImportBatch:
        """The import *pk*; raises NotFound where there is none of this kind."""
        batch = reading.imports(self.kind).filter(pk=pk).first()
        if batch is None:
            raise NotFound(_("There is no such import."))
        return batch

    def addresses(self) -> dict[str, str]:
        """The names of the addresses that the templates of all kinds use."""
        names = ("imports", "import", *(f"import-{act}" for act in ACTS))
        return {name.replace("-", "_"): f"{self.space}:{name}" for name in names}

    def context(self, request: MemberRequest, batch: ImportBatch) -> dict[str, Any]:
        """What page and fragment show alike."""
        now = timezone.now()
        note_if_lost(batch, now)
        progress, totals = reading.progress(batch, now), self.totals(batch)
        pages = Paginator(reading.import_problems(batch), PROBLEMS)
        return {
            "at": self.addresses(),
            "batch": batch,
            "state": batch.status,
            "importing": batch.confirmed_at is not None,
            "progress": progress,
            "totals": totals,
            "taken_files": max(0, progress.done - totals.refused),
            "files": reading.import_files(batch)[:500],
            "problems": pages.get_page(request.GET.get("page")),
            "may_edit": request.user.may(self.edits),
            "checked": batch.status == ImportStatus.CHECKED,
            "goes_on": batch.goes_on and bool(batch.folder),
        }

    # ---- acting ----

    def confirm(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Import what was checked."""
        import_jobs.confirm_import(self.found(pk), acting_user=request.user)
        self.ask(pk)
        return redirect(f"{self.space}:import", pk)

    def stop(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Stop between two files."""
        import_jobs.stop_import(self.found(pk), acting_user=request.user)
        said = _("It stops after the file that is being read; no file is halved.")
        messages.success(request, said)
        return redirect(f"{self.space}:import", pk)

    def resume(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Go on; what was written already stays as it is."""
        import_jobs.resume_import(self.found(pk), acting_user=request.user)
        self.ask(pk)
        return redirect(f"{self.space}:import", pk)

    def discard(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Delete the uploaded files."""
        import_jobs.discard_import(self.found(pk), acting_user=request.user)
        messages.success(request, _("The uploaded files are deleted."))
        return redirect(f"{self.space}:import", pk)


ACTS = ("progress", "confirm", "stop", "resume", "discard")
