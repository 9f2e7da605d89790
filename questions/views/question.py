"""One question: its text, labels, rates, problems, rubrics and revisions."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Conflict
from questions.forms.labels import LabelForm
from questions.forms.problems import ReportForm
from questions.models import Question
from questions.selectors.bank import image_addresses, problems_of, question_whole
from questions.selectors.labels import rates_of, reference_of
from questions.selectors.revisions import revision_changes
from questions.services.labels import set_labels
from questions.services.reported import report_problem


def get_question(public_id: UUID) -> Question:
    """The question with its parts; 404 where there is none."""
    question = question_whole(public_id)
    if question is None or question.current is None:
        raise Http404
    return question


@require_safe
@requires(Capability.SEE_QUESTIONS)
def question_page(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """One question with all that is known of it."""
    question = get_question(public_id)
    return render(request, "questions/bank/question.html", page_context(request, question))


def page_context(request: MemberRequest, question: Question) -> dict[str, object]:
    """What the page of *question* shows."""
    revision = question.current
    assert revision is not None  # get_question() looked
    return {
        "question": question,
        "revision": revision,
        "options": list(zip(revision.letters, revision.options, strict=False)),
        "images": image_addresses(question.task.dataset, revision.images),
        "rates": rates_of(question),
        "reference": reference_of(question),
        "task_rates": rates_of(question.task),
        "problems": problems_of(question),
        "changes": revision_changes(question),
        "label_form": label_form(request, question),
        "report_form": ReportForm(initial={"seen": revision.pk}),
        "may_report": request.user.may(Capability.EDIT_QUESTIONS),
    }


def label_form(request: MemberRequest, question: Question) -> LabelForm | None:
    """The form for the labels, for those who may change them."""
    return LabelForm.of(question.label) if request.user.may(Capability.EDIT_QUESTIONS) else None


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def save_labels(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Set the labels; htmx gets the section, a plain form the page again."""
    question = get_question(public_id)
    form = LabelForm(request.POST)
    if not form.is_valid():
        raise BadInput(_("One of the labels no longer exists. Choose again."))
    data = form.cleaned_data
    row = set_labels(
        question,
        form.change(),
        acting_user=request.user,
        reason=data["reason"],
        seen=data["seen"],
    )
    said = _("The labels were saved.") if row else _("There were no changes.")
    if request.htmx:
        context = {"question": question, "label_form": label_form(request, question), "said": said}
        return render(request, "questions/bank/_labels.html", context)
    messages.success(request, said)
    return redirect(reverse("questions:question", args=[public_id]) + "#labels")


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def report(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Keep what is said to be wrong with the question, and lead to where it is decided."""
    question = get_question(public_id)
    form = ReportForm(request.POST)
    status = 400
    if form.is_valid():
        try:
            problem = report_problem(question, **form.cleaned_data, acting_user=request.user)
        except (BadInput, Conflict) as refusal:
            status = refusal.status
            question = get_question(public_id)
            form = ReportForm(request.POST | {"seen": question.current_id})
            form.add_error(None, str(refusal))
        else:
            messages.success(request, _("The problem was reported. It can be decided here."))
            return redirect("questions:problem", pk=problem.pk)
    context = page_context(request, question) | {"report_form": form}
    return render(request, "questions/bank/question.html", context, status=status)
