"""The pages of imports: those of background work, the import of what was checked, discarding."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads
from gradeapp.common.background_work.selectors import Progress
from gradeapp.common.background_work.views import WorkPages
from questions.forms.imports import UploadForm
from questions.importers.exam_format import ExamLine
from questions.models import ImportBatch
from questions.rules.vocabulary import ImportStatus
from questions.selectors import imports as reading
from questions.services import import_jobs
from questions.services.uploads import take_upload
from questions.tasks import ask_for_import

PROBLEMS = 100


@require_safe
@requires(Capability.SEE_QUESTIONS)
def exam_format(request: MemberRequest) -> HttpResponse:
    """The JSON Schema of one line of the exam format."""
    return JsonResponse(ExamLine.model_json_schema(), json_dumps_params={"indent": 1})


def addresses(space: str) -> dict[str, str]:
    """Return the names of the addresses of imports in the namespace *space*."""
    acts = ("progress", "stop", "resume", "confirm", "discard")
    one = f"{space}:import"
    return {"list": f"{one}s", "one": one, **{act: f"{one}-{act}" for act in acts}}


class ImportPages(WorkPages):
    """The pages of imports of questions; `evaluations` has a subclass for answers."""

    kind = reading.QUESTIONS
    at = addresses("questions")
    folder = "questions/imports"
    list_id = "imports"
    sees = Capability.SEE_QUESTIONS
    edits = Capability.EDIT_QUESTIONS
    form = UploadForm
    error_field = "files"
    missing = gettext_lazy("There is no such import.")
    stopping = gettext_lazy("The import stops after the current file. No file is imported in part.")
    stop_work = staticmethod(import_jobs.stop_import)
    resume_work = staticmethod(import_jobs.resume_import)
    progress_of = staticmethod(reading.progress)
    ask = staticmethod(ask_for_import)
    totals_of = staticmethod(reading.totals)

    def rows(self, owner: int | None = None) -> Any:
        return reading.imports(self.kind)

    def start(self, form: Any, request: MemberRequest, owner: int | None) -> ImportBatch:
        said = form.cleaned_data
        by = {"acting_user": request.user, "form_key": said["key"]}
        return take_upload(said["files"], said["source"], **by)

    def urls(self) -> list[URLPattern]:
        """Return the addresses of these pages."""
        return [
            path("", takes_uploads(self.edits)(self.list_view()), name="imports"),
            *self.urls_of_one(),
            path("<int:pk>/import/", self.acts(self.confirm), name="import-confirm"),
            path("<int:pk>/discard/", self.acts(self.discard), name="import-discard"),
        ]

    def more_of_list(self, request: MemberRequest, owner: int | None) -> dict[str, Any]:
        most = settings.IMPORT_MAX_UPLOAD_MB
        return {"megabytes": most, "most_bytes": most << 20}

    def more(self, work: ImportBatch, progress: Progress) -> dict[str, Any]:
        totals = self.totals_of(work)
        return {
            "importing": work.confirmed_at is not None,
            "totals": totals,
            "taken_files": max(0, progress.done - totals.refused),
            "shifted": work.status == ImportStatus.CHECKED and reading.seems_shifted(work),
            "outdated": work.status == ImportStatus.CHECKED and reading.was_outdated(work),
            "checked": work.status == ImportStatus.CHECKED,
            "seen": import_jobs.end_of(work),
            "goes_on": work.goes_on and bool(work.folder),
        }

    def more_of_page(self, request: MemberRequest, work: ImportBatch) -> dict[str, Any]:
        pages = Paginator(reading.import_problems(work), PROBLEMS)
        more = {
            "files": reading.import_files(work)[:500],
            "problems": pages.get_page(request.GET.get("page")),
        }
        if work.kind == reading.QUESTIONS and work.dataset is not None:
            more["held"] = reading.held_back(work.dataset)
        return more

    def confirm(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Import what was checked."""
        allowed = bool(request.POST.get("allow_shifted"))
        work = self.get_work(request, pk)
        about = {"allow_shifted": allowed, "seen": request.POST.get("seen", "")}
        if not import_jobs.confirm_import(work, acting_user=request.user, **about):
            messages.warning(request, import_jobs.CHECKED_AGAIN)
        self.ask(pk)
        return redirect(self.at["one"], pk)

    def discard(self, request: MemberRequest, pk: int) -> HttpResponse:
        """Delete the uploaded files."""
        import_jobs.discard_import(self.get_work(request, pk), acting_user=request.user)
        messages.success(request, _("The uploaded files were deleted."))
        return redirect(self.at["one"], pk)
