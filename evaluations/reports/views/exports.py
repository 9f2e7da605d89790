"""Exports: files that are sent at once, and files that are made in the background."""

from __future__ import annotations

import base64
import io
from dataclasses import replace
from functools import partial
from typing import Any

from django.http import (
    FileResponse,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
)
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from evaluations.facts.params import TEACHERS, validated
from evaluations.models import Export
from evaluations.reports.forms import (
    BY,
    FILE,
    PAPER,
    ExportForm,
    keys_of,
    read_bom,
    read_params,
    table_query,
)
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.selectors import exports as reading
from evaluations.reports.selectors.export_tables import SUMMARIES
from evaluations.reports.selectors.reports import OF_A_PAPER
from evaluations.reports.services import export_jobs
from evaluations.reports.services.exports import (
    MOST_AT_ONCE,
    Asked,
    check_asked,
    is_long,
    note_export,
    stream_export,
    write_export,
)
from evaluations.reports.tasks import ask_for_export
from gradeapp.accounts.confirmation import check_confirmed, confirmed
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.selectors import Progress
from gradeapp.common.background_work.views import WorkPages
from gradeapp.common.long_files import file_answer, headers_of, place_for_a_file
from gradeapp.common.refusals import BadInput, NotFound
from gradeapp.common.table_files import MEDIA_TYPES, FileFormat

GAOKAO_BENCH = "gaokao-bench"


@require_safe
@requires(Capability.EXPORT)
@confirmed
def report_export(request: MemberRequest, name: str, suffix: str) -> HttpResponseBase:
    """Return one table as a file, and record the export.

    A file of at most ``MOST_AT_ONCE`` rows is whole before its first byte is sent, so that an
    error is an error and never half a file. A longer one is streamed if its format allows it.
    """
    params = read_params(request.GET, others=FILE | keys_of(name))
    asked = check_asked(Asked(name, params, suffix, read_bom(request.GET)))
    if request.method == "HEAD":
        return headers_of(asked.file_name, asked.media_type)
    return _sent(request, asked)


def _sent(request: MemberRequest, asked: Asked) -> HttpResponseBase:
    """Return the file *asked*, whole or as a stream. Raises BadInput if it has to be made first."""
    if not is_long(asked):
        return _whole(asked, request.user)
    if not FileFormat(asked.file_format).is_streamed:
        raise BadInput(
            _("This file has more than %(most)s rows. Create it on the page “Exports”.")
            % {"most": f"{MOST_AT_ONCE:,}"}
        )
    lines = partial(stream_export, asked, acting_user=request.user)
    return file_answer(request, lines, media_type=asked.media_type, name=asked.file_name)


def _whole(asked: Asked, user: User) -> HttpResponse:
    file = io.BytesIO()
    with place_for_a_file():
        made = write_export(asked, file)
    note_export(asked, made, acting_user=user)
    response = HttpResponse(file.getvalue(), content_type=asked.media_type)
    # RFC 9530: a file that is sent at once has no manifest beside it.
    digest = base64.b64encode(bytes.fromhex(str(made["sha256"]))).decode()
    response["Repr-Digest"] = f"sha-256=:{digest}:"
    response["Content-Disposition"] = f'attachment; filename="{asked.file_name}"'
    return response


class ExportPages(WorkPages):
    """Exports in the background; everybody sees their own alone."""

    at = {
        "list": "reports:exports",
        "one": "reports:export-work",
        "progress": "reports:export-progress",
        "stop": "reports:export-stop",
        "resume": "reports:export-resume",
    }
    folder = "evaluations/reports/exports"
    list_id = "exports"
    sees = Capability.EXPORT
    edits = Capability.EXPORT
    form = ExportForm
    missing = gettext_lazy("There is no such export of yours.")
    stopping = gettext_lazy("The export stops after the current rows. Nothing of the file is kept.")
    stop_work = staticmethod(export_jobs.stop_export)
    resume_work = staticmethod(export_jobs.resume_export)
    progress_of = staticmethod(reading.progress)
    ask = staticmethod(ask_for_export)

    def rows_for(self, request: MemberRequest, owner: int | None = None) -> Any:
        return reading.exports_of(request.user)

    def new_form(self, request: MemberRequest) -> ExportForm:
        """Return the form with the table of the page that led here; papers where there is one."""
        from_cuts, paper = any(request.GET.getlist("by")), request.GET.get("paper")
        known = (paper or request.GET.get("dataset")) in list(Paper)
        table = "paper-tables" if paper else "cuts" if from_cuts else ""
        return ExportForm(initial={"table": table}, left_out=() if known else OF_A_PAPER)

    def start(self, form: Any, request: MemberRequest, owner: int | None) -> Export | HttpResponse:
        said = form.cleaned_data
        query = table_query(request.GET, said["table"])
        params = read_params(query, others=keys_of(said["table"]))
        asked = check_asked(Asked(said["table"], params, said["file_format"], said["bom"]))
        if is_long(asked):
            check_confirmed(request)
            return export_jobs.start_export(asked, acting_user=request.user)
        address = reverse("reports:export", args=[asked.name, asked.file_format])
        if not asked.bom:
            query["bom"] = "no"
        return redirect(f"{address}?{query.urlencode()}")

    def more_of_list(self, request: MemberRequest, owner: int | None) -> dict[str, Any]:
        params = None
        if request.GET.get("dataset"):
            params = read_params(request.GET, others=BY | PAPER)
            # The models of a paper may be pairs, which its report checks.
            validated(replace(params, models=()) if params.paper else params)
            params = replace(params, marker=params.marker or TEACHERS)
        summaries = [
            {"name": f"{name}.json", "url": reverse("reports:export", args=[name, "json"])}
            for name in SUMMARIES
        ]
        return {
            "params": params,
            "query": table_query(request.GET, "").urlencode(),
            "most": MOST_AT_ONCE,
            "may_edit": params is not None,
            "summaries": summaries if params and params.dataset == GAOKAO_BENCH else [],
        }

    def more(self, work: Export, progress: Progress) -> dict[str, Any]:
        return {"asked": export_jobs.asked_of(work)}

    def file(self, request: MemberRequest, pk: int) -> FileResponse:
        """Return the file to its owner."""
        check_confirmed(request)
        work = self.get_work(request, pk)
        file = export_jobs.fetched(work, acting_user=request.user)
        media_type = MEDIA_TYPES[FileFormat(work.file_format)]
        return FileResponse(
            file.open("rb"),
            as_attachment=True,
            filename=work.file_name,
            content_type=media_type,
        )

    def manifest(self, request: MemberRequest, pk: int) -> JsonResponse:
        """Return the manifest of a file: its rows, SHA-256 and parameters."""
        work = self.get_work(request, pk)
        if not work.sha256:
            raise NotFound(_("This file is not complete."))
        response = JsonResponse(export_jobs.manifest_of(work))
        name = f"{work.file_name}.manifest.json"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response
