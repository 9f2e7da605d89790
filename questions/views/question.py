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
from gradeapp.common.refusals import BadInput
from questions.forms.labels import LabelForm
from questions.models import Question
from questions.selectors.bank import image_addresses, problems_of, question_whole
from questions.selectors.labels import rates_of, reference_of
from questions.selectors.revisions import revision_changes
from questions.services.labels import set_labels


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
    revision = question.current
    assert revision is not None  # get_question() looked
    context = {
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
    }
    return render(request, "questions/bank/question.html", context)


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
