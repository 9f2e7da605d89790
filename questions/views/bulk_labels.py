"""Labels of many questions at once: preview, confirm with a reason, undo; and what was done."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.forms.labels import BulkLabelForm
from questions.models import LabelBatch
from questions.selectors.bank import shown_rows
from questions.selectors.labels import bulk_change, bulk_changes, changed_rows, kept_questions
from questions.services import bulk_labels as services
from questions.views.bank import filtered

PAGE = 50
SHOWN = 20
MOST = 50_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What the form of the list, or of the preview, asks for."""

    keys: list[int]
    change: dict[str, object]
    form: BulkLabelForm
    query: str


def wish(request: MemberRequest) -> Wish:
    """The questions and the labels of the request; refuses where either is not there."""
    form = BulkLabelForm(request.POST)
    if not form.is_valid():
        raise BadInput(_("One of the labels no longer exists. Choose again."))
    query = request.POST.get("query", "")
    keys = _keys(request.POST, query)
    if not keys:
        raise BadInput(_("Select at least one question."))
    return Wish(keys, form.change(), form, query)


def _keys(data: QueryDict, query: str) -> list[int]:
    """The whole result of *query*, or the questions that were ticked; refuses no such filter."""
    if data.get("whole"):
        return list(filtered(QueryDict(query))[0].values_list("pk", flat=True))
    ticked = [*data.getlist("question"), *data.get("questions", "").split(",")]
    numbers = [int(key) for key in ticked if key.isascii() and key.isdigit() and len(key) < 19]
    if len(numbers) > MOST:
        raise BadInput(_("Too many questions for one change."))
    return list(dict.fromkeys(numbers))


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def preview(request: MemberRequest) -> HttpResponse:
    """What the change would do: from what to what, and on how many questions."""
    return _preview(request, wish(request))


def _preview(request: MemberRequest, asked: Wish, *, moved: bool = False) -> HttpResponse:
    context = {
        "wish": asked,
        "preview": services.preview(asked.keys, asked.change),
        "rows": shown_rows(asked.keys[:SHOWN]),
        "left": max(0, len(asked.keys) - SHOWN),
        "keys": ",".join(map(str, asked.keys)),
        "reason": request.POST.get("reason", ""),
        "moved": moved,
    }
    status = 409 if moved else 200
    return render(request, "questions/bulk/preview.html", context, status=status)


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def apply(request: MemberRequest) -> HttpResponse:
    """Do what was previewed; where the labels have moved since, show the preview again."""
    asked = wish(request)
    try:
        batch = services.apply(
            asked.keys,
            asked.change,
            acting_user=request.user,
            query=asked.query,
            reason=request.POST.get("reason", ""),
            seen=request.POST.get("state", ""),
        )
    except Conflict:
        return _preview(request, asked, moved=True)
    number = batch.revisions.count()
    said = ngettext("%(n)s question changed.", "%(n)s questions changed.", number)
    messages.success(request, said % {"n": number})
    return redirect("questions:bulk-change", batch.pk)


@require_safe
@requires(Capability.EDIT_QUESTIONS)
def changes(request: MemberRequest) -> HttpResponse:
    """All bulk changes, the newest first."""
    page = Paginator(bulk_changes(), PAGE).get_page(request.GET.get("page"))
    return render(request, "questions/bulk/list.html", {"page": page})


@require_safe
@requires(Capability.EDIT_QUESTIONS)
def change_page(request: MemberRequest, pk: int) -> HttpResponse:
    """One bulk change: what was set, on which questions, and the way back."""
    batch = get_batch(pk)
    page = Paginator(changed_rows(batch), PAGE).get_page(request.GET.get("page"))
    context = {"batch": batch, "page": page, "kept": kept_questions(batch)}
    return render(request, "questions/bulk/change.html", context)


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def undo(request: MemberRequest, pk: int) -> HttpResponse:
    """Give every question of a bulk change the labels that it had before."""
    undoing = services.undo(get_batch(pk), acting_user=request.user)
    number = undoing.revisions.count()
    said = ngettext(
        "Undone: the labels of %(n)s question were restored.",
        "Undone: the labels of %(n)s questions were restored.",
        number,
    )
    messages.success(request, said % {"n": number})
    return redirect("questions:bulk-change", undoing.pk)


def get_batch(pk: int) -> LabelBatch:
    """The bulk change *pk*; refuses where there is none."""
    batch = bulk_change(pk)
    if batch is None:
        raise NotFound(_("There is no such change."))
    return batch
