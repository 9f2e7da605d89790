"""Return marks of a teacher for re-marking; move responses to a newer rubric."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from evaluations.facts.looks import record_view
from evaluations.marking.monitoring.forms import NewRubricForm, ReturnForm
from evaluations.marking.monitoring.selectors import monitoring
from evaluations.marking.monitoring.selectors.new_rubric import (
    RemarkScope,
    outdated_rubrics,
    scopes_of,
)
from evaluations.marking.monitoring.selectors.returning import ReturnPreview, preview_return
from evaluations.marking.monitoring.services.new_rubric import NewRubricResult, use_new_rubric
from evaluations.marking.monitoring.services.returning import refuse_own, return_marks
from evaluations.marking.monitoring.views.monitoring import (
    FOLDER,
    PAGE,
    teacher_called,
    watched_teacher,
)
from evaluations.marking.rounds.views.rounds import round_to_change, visible_round
from evaluations.marking.services.reopening import Withdrawn
from evaluations.models import MarkingRound
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, NotAllowed, NotFound
from questions.models import Question


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def return_page(request: MemberRequest, round_id: UUID, teacher_id: UUID) -> HttpResponse:
    """Choose which marks and who gets them, see what is withdrawn, then do it by a POST."""
    found = round_to_change if request.method == "POST" else visible_round
    marking_round, teacher = found(request.user, round_id), teacher_called(teacher_id)
    if request.method == "POST":
        form = ReturnForm(request.POST)
        if not form.is_valid():
            return _show_return(request, marking_round, teacher_id, form, 400)
        choice = form.choice()
        withdrawn = return_marks(
            marking_round,
            teacher,
            choice,
            to_others=form.cleaned_data["to"] == "others",
            acting_user=request.user,
            now=timezone.now(),
        )
        messages.success(request, _withdrawn_sentence(withdrawn))
        if choice.shown is not None and (gone := len(choice.shown) - withdrawn.returned) > 0:
            messages.warning(request, _gone_sentence(gone))
        return redirect("monitoring:teacher", round_id, teacher_id)
    form = ReturnForm(request.GET or None, initial={"since": _midnight()})
    return _show_return(request, marking_round, teacher_id, form)


def _show_return(
    request: MemberRequest,
    marking_round: MarkingRound,
    teacher_id: UUID,
    form: ReturnForm,
    status: int = 200,
) -> HttpResponse:
    record_view(marking_round, acting_user=request.user, page="sending back")
    teacher = watched_teacher(monitoring.watched_round(marking_round), teacher_id)
    preview, refusal, until = None, "", timezone.now()
    if form.is_bound and form.is_valid():
        preview = preview_return(marking_round, teacher_called(teacher_id), form.choice())
        refusal = _refusal(preview, request.user)
    named = form.choice().aliases if preview else ()
    returned = {slot.answer.alias for slot in preview.slots} if preview else set()
    page = Paginator(preview.slots if preview else (), PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "round": marking_round,
        "teacher": teacher,
        "form": form,
        "preview": preview,
        "refusal": refusal,
        "not_returned": [alias for alias in named if alias not in returned],
        "shown": " ".join(str(slot.pk) for slot in preview.slots) if preview else "",
        "until": until.isoformat(),
        "page": page,
        "is_open": marking_round.status != RoundStatus.CLOSED,
    }
    return render(request, f"{FOLDER}/return_marks.html", context, status=status)


def _refusal(preview: ReturnPreview, person: User) -> str:
    """Why *person* may not return the marks of *preview*; empty where they may."""
    try:
        refuse_own(preview.slots, person)
    except NotAllowed as refusal:
        return str(refusal)
    return ""


def _midnight() -> Any:
    return timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)


def _withdrawn_sentence(withdrawn: Withdrawn) -> str:
    marks = ngettext(
        "%(number)s mark was returned for re-marking.",
        "%(number)s marks were returned for re-marking.",
        withdrawn.returned,
    ) % {"number": withdrawn.returned}
    finals = ngettext(
        "%(number)s final mark was withdrawn.",
        "%(number)s final marks were withdrawn.",
        len(withdrawn.finals),
    ) % {"number": len(withdrawn.finals)}
    return f"{marks} {finals}"


def _gone_sentence(number: int) -> str:
    return ngettext(
        "%(number)s of the marks shown was not returned: it was changed or returned meanwhile.",
        "%(number)s of the marks shown were not returned: they were changed or returned meanwhile.",
        number,
    ) % {"number": number}


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.LEAD_ROUNDS)
def rubrics(request: MemberRequest, round_id: UUID) -> HttpResponse:
    """Questions with a newer rubric than the round froze; a POST has responses marked again."""
    if request.method == "POST":
        return _use_new_rubric(request, round_to_change(request.user, round_id))
    marking_round = visible_round(request.user, round_id)
    record_view(marking_round, acting_user=request.user, page="rubrics")
    scopes = scopes_of(marking_round)
    context = {
        "round": marking_round,
        "outdated": outdated_rubrics(marking_round),
        "has_choice": len(scopes) > 1,
        "form": NewRubricForm(scopes),
        "is_open": marking_round.status != RoundStatus.CLOSED,
    }
    return render(request, f"{FOLDER}/rubrics.html", context)


def _use_new_rubric(request: MemberRequest, marking_round: MarkingRound) -> HttpResponse:
    form = NewRubricForm(scopes_of(marking_round), request.POST)
    if not form.is_valid():
        raise BadInput(_("Select which responses to re-mark."))
    result = use_new_rubric(
        marking_round,
        _question(marking_round, request.POST.get("question", "")),
        scope=RemarkScope(form.cleaned_data["reach"]),
        version=form.cleaned_data["version"] or 0,
        with_arbitrated=form.cleaned_data["with_arbitrated"],
        acting_user=request.user,
        now=timezone.now(),
    )
    messages.success(request, _new_rubric_sentence(result))
    return redirect("monitoring:rubrics", marking_round.public_id)


def _new_rubric_sentence(result: NewRubricResult) -> str:
    sentence = ngettext(
        "%(number)s response now uses the new rubric.",
        "%(number)s responses now use the new rubric.",
        result.responses,
    ) % {"number": result.responses}
    if result.withdrawn.marks:
        sentence = f"{sentence} {_withdrawn_sentence(result.withdrawn)}"
    if not result.references:
        return sentence
    retired = ngettext(
        "%(number)s seed answer needs a new reference mark.",
        "%(number)s seed answers need new reference marks.",
        result.references,
    ) % {"number": result.references}
    return f"{sentence} {retired}"


def _question(marking_round: MarkingRound, public_id: str) -> Question:
    try:
        key = UUID(public_id)
    except ValueError:
        raise BadInput(_("Select which responses to re-mark.")) from None
    asked = Question.objects.filter(public_id=key, blind_answers__round=marking_round)
    question = asked.distinct().first()
    if question is None:
        raise NotFound(_("There is no such question in this round."))
    return question
