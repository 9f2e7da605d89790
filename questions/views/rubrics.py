"""Rubrics of a question: versions, the editor, proposals, acceptance; and the parts of a task."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, check, exports, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Conflict, NotFound, Refusal
from questions.forms import rubric_parts as forms
from questions.forms.rubrics import Editor, PointEntry
from questions.models import Question, Rubric, Task
from questions.selectors.bank import image_addresses
from questions.selectors.rubric_parts import unrated_items
from questions.selectors.rubrics import (
    lines_of,
    marked_question,
    rubric_columns,
    rubric_for,
    rubric_versions,
)
from questions.services.rubric_parts import RefusedWishes, accept_rubrics
from questions.services.rubric_words import in_words
from questions.services.rubrics import (
    QUESTION_CHANGED,
    accept_rubric,
    draft_rubric,
    note_one_export,
    propose_draft,
)
from questions.views.rubric_files import rubric_file

PAGES = "questions/rubrics"


@require_safe
@requires(Capability.SEE_QUESTIONS)
def versions(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Two versions side by side (``left``, ``right``); the newest and the one before it."""
    question = _question(public_id)
    rubrics = rubric_versions(question)
    chosen = [
        _chosen(rubrics, request.GET.get("left"), 0),
        _chosen(rubrics, request.GET.get("right"), 1),
    ]
    columns = rubric_columns(question, [rubric for rubric in chosen if rubric])
    context = _context(request, question) | {
        "rubrics": rubrics,
        "columns": [
            {"column": column, "wrong": [in_words(finding) for finding in column.wrong]}
            for column in columns
        ],
        "chosen": [rubric.version for rubric in chosen if rubric],
    }
    return render(request, f"{PAGES}/versions.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.EDIT_QUESTIONS)
def editor(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """The editor, filled from the version ``from``; a POST keeps what stands in it."""
    question = _question(public_id)
    if request.method == "POST":
        return _keep(request, question, Editor.typed(request.POST))
    rubric = _chosen(rubric_versions(question), request.GET.get("from"), 0)
    filled = Editor.of(lines_of(rubric)) if rubric else Editor()
    return _editor(request, question, filled)


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def propose(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """A draft from the marks of the key, opened in the editor to be read; or why there is none."""
    question = _question(public_id)
    try:
        draft = propose_draft(question, acting_user=request.user)
    except BadInput as refusal:
        messages.error(request, str(refusal))
        return redirect("questions:rubrics", question.public_id)
    messages.info(
        request, _("A draft was created from the answer key. Read it before you accept it.")
    )
    return redirect(_address("questions:rubric-new", question, draft))


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def accept(request: MemberRequest, public_id: UUID, version: int) -> HttpResponse:
    """Let a draft count from now on."""
    question = _question(public_id)
    rubric = question.rubrics.filter(version=version).first()
    if rubric is None:
        raise NotFound(_("There is no such version of this rubric."))
    accept_rubric(
        rubric,
        acting_user=request.user,
        now=timezone.now(),
        seen_revision=_seen(request, "seen-revision"),
    )
    messages.success(request, _("Version %(version)s is now in use.") % {"version": version})
    return redirect("questions:rubrics", question.public_id)


@require_safe
@exports
@requires(Capability.SEE_QUESTIONS)
def export(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """One version (``version``, the newest without it) as a file."""
    question = _question(public_id)
    rubric = _chosen(rubric_versions(question), request.GET.get("version"), 0)
    if rubric is None:
        raise NotFound(_("There is no such version of this rubric."))
    name = f"rubric-{question.task.slug}-{question.external_id}-v{rubric.version}"
    file = rubric_file([rubric_for(question, rubric)], name, request.GET.get("format", "csv"))
    if request.method != "HEAD":
        note_one_export(rubric, acting_user=request.user)
    return file


def _keep(request: MemberRequest, question: Question, typed: Editor) -> HttpResponse:
    """Save a draft, accept it at once if asked, or carry out a button of the form."""
    wish = request.POST.get("do", "save")
    if wish not in ("save", "accept"):
        typed.change(wish)
        return _editor(request, question, typed)
    try:
        with transaction.atomic():
            draft = draft_rubric(
                question,
                typed.rubric(lines_of(version) for version in rubric_versions(question)),
                acting_user=request.user,
                seen=_seen(request, "seen"),
                seen_revision=_seen(request, "seen-revision"),
            )
            if wish == "accept" and not draft.accepted:
                accept_rubric(draft, acting_user=request.user, now=timezone.now())
    except Refusal as refusal:
        return _editor(request, question, typed, refusal)
    said = (
        _("Version %(version)s is now in use.")
        if wish == "accept"
        else _("Version %(version)s was saved as a draft. It is used once it is accepted.")
    )
    messages.success(request, said % {"version": draft.version})
    return redirect("questions:rubrics", question.public_id)


def _seen(request: MemberRequest, name: str) -> int | None:
    """The newest version or the revision when the page was opened; None in a form without it."""
    given = request.POST.get(name, "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 19 else None


def _editor(
    request: MemberRequest, question: Question, filled: Editor, refusal: Refusal | None = None
) -> HttpResponse:
    revision = question.current
    assert revision is not None  # marked_question looked
    marks = revision.decimal_sub_marks
    shown = filled.with_spares()
    newest = next(iter(rubric_versions(question)), None)
    # Only what a refusal speaks of counts as seen when the form is sent again.
    changed = refusal is not None and refusal.code == QUESTION_CHANGED
    overtaken = refusal is not None and refusal.status == Conflict.status and not changed
    kept = None if overtaken else _seen(request, "seen")
    kept_revision = None if changed else _seen(request, "seen-revision")
    context = _context(request, question) | {
        "seen": (newest.version if newest else 0) if kept is None else kept,
        "seen_revision": revision.pk if kept_revision is None else kept_revision,
        "newest": newest if refusal and refusal.code == "changed_meanwhile" else None,
        "editor": shown,
        "blank": PointEntry(),
        "sums": filled.sums(marks),
        "subs": shown.subs(len(marks)),
        "group_numbers": [str(number) for number in range(1, len(shown.groups) + 1)],
        "refusal": refusal,
        "changed": changed,
    }
    status = refusal.status if refusal else 200
    return render(request, f"{PAGES}/editor.html", context, status=status)


def _question(public_id: UUID) -> Question:
    question = marked_question(public_id)
    if question is None:
        raise NotFound(_("There is no such question, or it is not subjective."))
    return question


def _chosen(rubrics: list[Rubric], wish: str | None, place: int) -> Rubric | None:
    """The version called *wish*, or the one at *place* where none is named."""
    if wish:
        return next((one for one in rubrics if str(one.version) == wish), None)
    return rubrics[place] if place < len(rubrics) else None


def _context(request: MemberRequest, question: Question) -> dict[str, object]:
    revision = question.current
    assert revision is not None  # marked_question looked
    return {
        "can_edit": request.user.may(Capability.EDIT_QUESTIONS),
        "question": question,
        "revision": revision,
        "lang": "zh-Hans" if revision.language == "zh" else "en",
        "images": image_addresses(question.task.dataset, revision.images),
    }


def _address(name: str, question: Question, rubric: Rubric) -> str:
    return f"{reverse(name, args=[question.public_id])}?from={rubric.version}"


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def drafts(request: MemberRequest, pk: int) -> HttpResponse:
    """The items of a task without an accepted rubric; ``divide`` divides unknown marks evenly."""
    if request.method == "POST":
        check(request.user, Capability.ACCEPT_RUBRICS)
    task = get_object_or_404(Task.objects.select_related("dataset"), pk=pk)
    if request.method != "POST":
        return _page(request, task)
    try:
        accepted = accept_rubrics(
            task, forms.wishes(request.POST), acting_user=request.user, now=timezone.now()
        )
    except BadInput as refusal:
        return _page(request, task, request.POST, refusal)
    said = ngettext("%(n)s rubric is now in use.", "%(n)s rubrics are now in use.", accepted)
    messages.success(request, said % {"n": accepted})
    return redirect("questions:rubric-parts", task.pk)


def _page(
    request: MemberRequest,
    task: Task,
    typed: QueryDict | None = None,
    refusal: BadInput | None = None,
) -> HttpResponse:
    divide = "divide" in (request.GET if typed is None else typed)
    items = unrated_items(task, divide=divide)
    sentences = refusal.sentences if isinstance(refusal, RefusedWishes) else {}
    shown = {item.question.public_id for item in items if item.in_parts}
    context = {
        "task": task,
        "gone": [sentence for key, sentence in sentences.items() if key not in shown][:3],
        "divide": divide,
        "nothing": {},
        "rows": forms.rows([item for item in items if item.in_parts], typed, sentences),
        "whole": [item for item in items if not item.in_parts],
        "ready": sum(item.ready for item in items),
        "may_accept": request.user.may(Capability.ACCEPT_RUBRICS),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 200
    return render(request, "questions/rubrics/drafts.html", context, status=status)
