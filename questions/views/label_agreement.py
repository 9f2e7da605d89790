"""Agreement of curators by label, and the differences to resolve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from questions.forms.labelling import label_choices, number, sent_labels
from questions.models import Knowledge, LabelOpinion, Question
from questions.rules.four_tuple import LEVELS, Label, Value
from questions.rules.label_agreement import LabelAgreement
from questions.rules.vocabulary import AbilityBranch, Modal
from questions.selectors.opinions import (
    Difference,
    PairAgreement,
    agreements,
    open_differences,
    opinions_on,
)
from questions.services.opinions import resolve_difference
from questions.templatetags.labels import in_words

PAGE = 20
ORDER: dict[Label, tuple[Value, ...]] = {
    Label.ABILITY_BRANCH: tuple(branch.value for branch in AbilityBranch),
    Label.DIFFICULTY: LEVELS,
    Label.MODAL: tuple(modal.value for modal in Modal),
}


@dataclass(frozen=True)
class Table:
    """One label of one pair in words: the figures, and who named what.

    ``rows`` is the confusion table (the first's value, then a count for each of
    ``columns``), empty for knowledge, whose ``apart`` lists what differs.
    """

    name: str
    found: LabelAgreement[Value]
    reason: str
    columns: list[str]
    rows: list[tuple[str, list[tuple[int, bool]]]]
    apart: list[tuple[str, str, int]]


@require_safe
@requires(Capability.SEE_QUESTIONS)
def agreement(request: MemberRequest) -> HttpResponse:
    """Cohen's kappa of every two curators by label, and one pair in full."""
    also_seen = request.GET.get("seen") == "yes"
    found = agreements(also_seen=also_seen)
    people = User.objects.in_bulk({key for pair in found for key in (pair.first, pair.second)})
    names = names_apart(people.values())
    pairs = [_row(pair, names) for pair in found]
    chosen = next((p for p in pairs if p["key"] == request.GET.get("pair")), None)
    chosen = chosen or next(iter(pairs), None)
    context = {
        "pairs": pairs,
        "chosen": chosen,
        "tables": _tables(chosen["pair"]) if chosen else [],
        "labels": [label.label(get_language() or "en") for label in Label],
        "also_seen": also_seen,
    }
    return render(request, "questions/labelling/agreement.html", context)


@require_safe
@requires(Capability.SEE_QUESTIONS)
def differences(request: MemberRequest) -> HttpResponse:
    """Questions on which curators differ, oldest first."""
    return render(request, "questions/labelling/differences.html", _listed(request))


def _listed(request: MemberRequest) -> dict[str, Any]:
    page = Paginator(open_differences(), PAGE).get_page(request.GET.get("page"))
    return {
        "page": page,
        "cases": _cases(list(page.object_list)),
        "choices": label_choices({}),
        "may_resolve": request.user.may(Capability.EDIT_QUESTIONS),
    }


@require_POST
@requires(Capability.EDIT_QUESTIONS)
def resolve(request: MemberRequest, public_id: UUID) -> HttpResponse:
    """Follow one of the opinions, or set labels of one's own, with a reason.

    What is refused is shown above the differences, its question first, as it was sent.
    """
    question = Question.objects.filter(public_id=public_id).first()
    if question is None:
        raise NotFound(_("There is no such question."))
    try:
        _resolve(request, question)
    except (BadInput, Conflict) as refusal:
        context = _listed(request) | {"refusal": refusal}
        still = [one for one in open_differences() if one.question == question.pk]
        others = [one for one in context["cases"] if one["question"] != question]
        sent = {name: request.POST.get(name, "") for name in ("choice", "reason")}
        cases = [case | {"sent": sent | sent_labels(request.POST)} for case in _cases(still)]
        context |= {"cases": [*cases, *others], "sent": None if cases else sent["reason"]}
        template = "questions/labelling/differences.html"
        return render(request, template, context, status=refusal.status)
    messages.success(request, _("The difference was resolved."))
    place = reverse("questions:labelling-differences", query={"page": request.GET.get("page", 1)})
    return redirect(place)


def _resolve(request: MemberRequest, question: Question) -> None:
    choice = request.POST.get("choice", "")
    if not choice:
        raise BadInput(_("Choose whose labels count."), code="no_choice")
    chosen = None
    if choice != "own":
        chosen = LabelOpinion.objects.filter(pk=number(request.POST, "choice")).first()
        if chosen is None:
            raise BadInput(_("This opinion does not belong to this question."), code="not_here")
    resolve_difference(
        question,
        acting_user=request.user,
        reason=request.POST.get("reason", ""),
        last=number(request.POST, "last"),
        chosen=chosen,
        change=sent_labels(request.POST),
    )


def _row(pair: PairAgreement, names: dict[int, str]) -> dict[str, Any]:
    return {
        "key": f"{pair.first}-{pair.second}",
        "pair": pair,
        "first": names[pair.first],
        "second": names[pair.second],
        "figures": [(found, _reason(found.reason)) for found in pair.labels.values()],
    }


def _reason(code: str) -> str:
    reasons = {
        "no_pairs": _("no question has this label from both curators"),
        "one_value": _("both curators always chose the same single value"),
    }
    return reasons.get(code, "")


def _tables(pair: PairAgreement) -> list[Table]:
    return [_table(label, found) for label, found in pair.labels.items()]


def _table(label: Label, found: LabelAgreement[Value]) -> Table:
    name, reason = label.label(get_language() or "en"), _reason(found.reason)
    if label not in ORDER:
        known = Knowledge.objects.in_bulk({key for both in found.table for key in both})
        words = {key: in_words(label, row) for key, row in known.items()}
        apart = [(words[a], words[b], count) for a, b, count in found.apart]
        return Table(name, found, reason, [], [], apart)
    used = {value for both in found.table for value in both}
    values = [value for value in ORDER[label] if value in used]
    rows = [
        (in_words(label, a), [(found.table.get((a, b), 0), a == b) for b in values]) for a in values
    ]
    return Table(name, found, reason, [in_words(label, value) for value in values], rows, [])


def _cases(page: list[Difference]) -> list[dict[str, Any]]:
    keys = [one.question for one in page]
    rows = Question.objects.select_related("task__dataset", "current", "label__knowledge")
    questions, opinions = rows.in_bulk(keys), opinions_on(keys)
    authors = {one.author_id: one.author for given in opinions.values() for one in given}
    names = names_apart([one for one in authors.values() if one is not None])
    return [
        {
            "question": questions[one.question],
            "opinions": [(each, names[each.author_id or 0]) for each in opinions[one.question]],
            "differing": {label.value for label in one.labels},
            "last": one.last,
        }
        for one in page
    ]
