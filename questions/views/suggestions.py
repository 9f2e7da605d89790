"""Suggestions of models: bringing them in, and what curators made of them."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from gradeapp.accounts.permissions import MemberRequest, check, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput
from questions.rules.four_tuple import Label
from questions.selectors.opinions import ModelShare, model_shares
from questions.services.suggestions import import_suggestions

MOST_BYTES = 32 * 1024 * 1024


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.SEE_QUESTIONS)
def suggestions(request: MemberRequest) -> HttpResponse:
    """Models and how often curators took what they suggested; a POST brings a file in."""
    problems: tuple[tuple[int, str], ...] = ()
    if request.method == "POST":
        check(request.user, Capability.EDIT_QUESTIONS)
        problems = _import(request)
        if not problems:
            return redirect("questions:labelling-suggestions")
    language = get_language() or "en"
    context = {
        "models": [_row(share) for share in model_shares()],
        "labels": [label.label(language) for label in Label],
        "problems": problems,
        "may_import": request.user.may(Capability.EDIT_QUESTIONS),
        "may_suggest": request.user.may(Capability.START_RUNS),
    }
    status = 400 if problems else 200
    return render(request, "questions/labelling/suggestions.html", context, status=status)


def _import(request: MemberRequest) -> tuple[tuple[int, str], ...]:
    file = request.FILES.get("file")
    if file is None:
        raise BadInput(_("Choose a file."), code="no_file")
    if file.size is None or file.size > MOST_BYTES:
        raise BadInput(_("The file is larger than 32 MB."), code="file_too_large")
    kept = import_suggestions(file, acting_user=request.user)  # type: ignore[arg-type]
    if not kept.problems:
        told = {"new": kept.new, "same": kept.same}
        messages.success(request, _("Suggestions: %(new)d new, %(same)d already known.") % told)
    return kept.problems


def _row(share: ModelShare) -> dict[str, object]:
    return {
        "share": share,
        "labels": [(share.taken.get(label, 0), share.compared.get(label, 0)) for label in Label],
    }
