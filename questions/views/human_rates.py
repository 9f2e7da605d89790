"""How people did on one item: its rates, adding one, correcting one."""

from __future__ import annotations

from decimal import Decimal
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.plain_number import decimal_of
from gradeapp.common.refusals import BadInput, NotFound, Refusal
from questions.forms.labelling import number
from questions.models import Question
from questions.rules.four_tuple import difficulty_level
from questions.selectors.labels import rates_of, reference_of
from questions.services.human_rates import GivenRate, add_rate_once, correct_rate


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def rates(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """The rates of an item and of its task; a POST adds one or corrects one."""
    if request.method == "POST":
        check(request.user, Capability.EDIT_QUESTIONS)
    rows = Question.objects.select_related("task__dataset", "current", "label__knowledge")
    question = rows.filter(public_id=public_id, current__isnull=False).first()
    if question is None:
        raise NotFound(_("There is no such question."))
    refusal: Refusal | None = None
    if request.method == "POST":
        try:
            _save(request, question)
        except Refusal as error:
            refusal = error
        else:
            return redirect("questions:rates", public_id)
    reference = reference_of(question)
    context = {
        "question": question,
        "rates": rates_of(question),
        "task_rates": rates_of(question.task),
        "reference": reference,
        "level": difficulty_level(reference.value) if reference else None,
        "refusal": refusal,
        "sent": request.POST,
        "form_key": uuid4(),
        "may_edit": request.user.may(Capability.EDIT_QUESTIONS),
    }
    status = refusal.status if refusal else 200
    return render(request, "questions/rates/rates.html", context, status=status)


def _save(request: MemberRequest, question: Question) -> None:
    given, reason = _given(request.POST), request.POST.get("reason", "")
    key = number(request.POST, "corrects")
    if not key:
        form_key = request.POST.get("key", "")
        add_rate_once(form_key, question, given, acting_user=request.user, reason=reason)
        messages.success(request, _("The rate was saved."))
        return
    rate = (rates_of(question) | rates_of(question.task)).filter(pk=key).first()
    if rate is None:
        raise NotFound(_("There is no such rate for this question."))
    correct_rate(rate, given, acting_user=request.user, reason=reason)
    messages.success(request, _("The rate was corrected. The earlier value is kept."))


def _given(data: QueryDict) -> GivenRate:
    """The fields of the form; the rate comes in per cent."""
    size = data.get("sample_size", "").strip()
    if size and not number(data, "sample_size"):
        raise BadInput(_("A sample must include at least one person."), code="bad_sample_size")
    return GivenRate(
        value=_decimal(data.get("percent", ""), _("Enter the rate in per cent.")) / 100,
        source=data.get("source", ""),
        sample_size=int(size) if size else None,
        weight=_decimal(data.get("weight") or "1", _("Enter the weight as a number.")),
    )


def _decimal(text: str, sentence: str) -> Decimal:
    value = decimal_of(text.strip().removesuffix("%"))
    if value is None:
        raise BadInput(sentence, code="no_number")
    return value
