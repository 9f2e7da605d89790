"""Batches of a run on its page: make them, download a file, upload its replies, discard one."""

from __future__ import annotations

from functools import partial
from typing import BinaryIO, cast

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from evaluations.facts.looks import record_calls
from evaluations.llm.batch_files import bounded_lines
from evaluations.models import Batch, Job
from evaluations.models.vocabulary import BatchState
from evaluations.runs.selectors.run_words import DISCARDED
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services import batch_making
from evaluations.runs.services import batches as services
from evaluations.runs.services.run_estimates import most_cost_of_resume
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads
from gradeapp.common.long_files import file_answer
from gradeapp.common.one_file import one_file_of
from gradeapp.common.refusals import BadInput, NotFound, Refusal


@require_POST
@requires(Capability.START_RUNS)
def batches_make(request: MemberRequest, pk: int) -> HttpResponse:
    """Put the due requests of a run into batches: files, or by API for a worker to send."""
    by_api = request.POST.get("by_api") == "yes"
    run = get_run(pk)
    check_cost(request, lambda: most_cost_of_resume(run, None))
    made = batch_making.make_batches(run, acting_user=request.user, by_api=by_api)
    n = sum(batch.requests for batch in made)
    sentence = ngettext("%(n)d request waits.", "%(n)d requests wait.", n) % {"n": n}
    messages.success(request, sentence)
    return redirect("runs:run", pk)


@require_safe
@requires(Capability.START_RUNS)
def batch_file(request: MemberRequest, pk: int, batch: int) -> HttpResponse | StreamingHttpResponse:
    """Return the file of one batch: the requests that wait for a reply."""
    found = _batch(pk, batch)
    # The requests of a judge hold responses.
    asked = Job.objects.filter(pk__in=batch_making.open_attempts(found).values("job"))
    record_calls(asked, acting_user=request.user, page="batch")
    lines = partial(services.take_file, found, acting_user=request.user)
    return file_answer(request, lines, media_type="application/x-ndjson", name=found.file_name)


@takes_uploads(Capability.START_RUNS)
@require_POST
@requires(Capability.START_RUNS)
def batch_read(request: MemberRequest, pk: int) -> HttpResponse:
    """Store the replies in an uploaded file."""
    upload = request.FILES.get("file")
    try:
        if upload is None:
            raise BadInput(_("Choose at least one file."))
        # An uploaded file that is iterated joins its pieces anew until there is a line break.
        lines = bounded_lines(cast("BinaryIO", cast(UploadedFile, upload).file))
        with one_file_of(request.user.pk):
            report = services.read_replies(get_run(pk), lines, acting_user=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return redirect("runs:run", pk)
    words = _(
        "Replies stored: %(answered)d. Failed: %(failed)d. Stored before: %(same)d. "
        "Not of this run: %(unknown)d."
    )
    messages.success(request, words % report.as_dict())
    for problem in report.problems[:10]:
        messages.warning(request, problem)
    return redirect("runs:run", pk)


@require_POST
@requires(Capability.START_RUNS)
def batch_discard(request: MemberRequest, pk: int, batch: int) -> HttpResponse:
    """End a batch without all its replies; its requests can be made again."""
    found = _batch(pk, batch)
    batch_making.check_made(found)
    n = services.give_up(found, DISCARDED, BatchState.DISCARDED, acting_user=request.user)
    sentence = ngettext("%(n)d request can be made again.", "%(n)d requests can be made again.", n)
    messages.success(request, sentence % {"n": n})
    if n and (found.taken_at or found.remote_id):
        text = _(
            "The endpoint may have this batch and bill it: its requests count as much as was "
            "reserved. Replies to them can still be uploaded."
        )
        messages.warning(request, text)
    return redirect("runs:run", pk)


def _batch(run: int, batch: int) -> Batch:
    found = Batch.objects.filter(run=run, pk=batch).select_related("run").first()
    if found is None:
        raise NotFound(_("There is no such batch."))
    return found
