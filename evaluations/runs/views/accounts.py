"""Pages of provider accounts and of spending."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from evaluations.models import ProviderAccount
from evaluations.runs.forms.accounts import AccountForm, CapForm
from evaluations.runs.selectors.accounts import get_account
from evaluations.runs.services import spending
from evaluations.runs.services.accounts import end_wait, limits_in_words, save_account
from evaluations.runs.tasks import ask_for_work
from gradeapp.accounts.confirmation import check_confirmed, check_cost
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import Refusal


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.OPERATE)
def account_new(request: MemberRequest) -> HttpResponse:
    """Show or save the form of a new account."""
    return _edit(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.OPERATE)
def account_edit(request: MemberRequest, pk: int) -> HttpResponse:
    """Show or save the form of an account."""
    return _edit(request, get_account(pk))


@require_POST
@requires(Capability.OPERATE)
def account_end_wait(request: MemberRequest, pk: int) -> HttpResponse:
    """Send calls again although the provider of an account has asked to wait.

    It asks for the password where resuming the runs one by one would.
    """
    account = get_account(pk)
    check_cost(request, Decimal)
    resumed = end_wait(account, acting_user=request.user)
    messages.success(request, _("Calls to %(name)s are sent again.") % {"name": account.name})
    for run in resumed.runs:
        transaction.on_commit(partial(ask_for_work, run.pk))
    if n := len(resumed.runs):
        sentence = ngettext("%(n)d run was resumed.", "%(n)d runs were resumed.", n)
        messages.success(request, sentence % {"n": n})
    for run, why in resumed.refused:
        sentence = _("Run %(id)d was not resumed: %(why)s")
        messages.warning(request, sentence % {"id": run.pk, "why": why})
    return redirect("runs:account", pk)


def _edit(request: MemberRequest, account: ProviderAccount | None) -> HttpResponse:
    posted = request.method == "POST"
    limits = set(AccountForm.base_fields) - {"seen"}
    initial = {name: getattr(account, name) for name in limits} if account else {}
    if account:
        initial["seen"] = limits_in_words(account)
    form = AccountForm(request.POST) if posted else AccountForm(initial=initial)
    if posted and form.is_valid():
        try:
            saved = save_account(account=account, acting_user=request.user, **form.cleaned_data)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
            if account and refusal.code == "changed_meanwhile":
                form.data = form.data.copy()
                form.data["seen"] = limits_in_words(get_account(account.pk))
        else:
            messages.success(request, _("%(name)s saved.") % {"name": saved.name})
            return redirect("runs:endpoints")
    until = account.waits_until(database_now()) if account else None
    context = {"form": form, "account": account, "until": until}
    return render(request, "evaluations/runs/account.html", context, status=400 if posted else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.OPERATE)
def spending_page(request: MemberRequest) -> HttpResponse:
    """Show what was spent by currency, or save the caps of one."""
    posted = CapForm(request.POST, prefix=request.POST.get("prefix", "")[:9] or None)
    refused: Refusal | None = None
    if request.method == "POST" and posted.is_valid():
        check_confirmed(request)
        try:
            cap = spending.save_cap(acting_user=request.user, **posted.cleaned_data)
        except Refusal as refusal:
            refused = refusal
            posted.add_error(None, str(refusal))
        else:
            messages.success(request, _("%(name)s saved.") % {"name": cap.currency})
            return redirect("runs:spending")
    rows = []
    for one in spending.spent(database_now()):
        seen = spending.caps_in_words(one.per_month, one.in_total)
        initial = {
            "seen": seen,
            "currency": one.currency,
            "per_month": _typed(one.per_month),
            "in_total": _typed(one.in_total),
        }
        own = request.method == "POST" and posted.prefix == one.currency
        if own and refused and refused.code == "changed_meanwhile":
            posted.data = posted.data.copy()
            posted.data[posted.add_prefix("seen")] = seen
        rows.append((one, posted if own else CapForm(initial=initial, prefix=one.currency)))
    return render(
        request,
        "evaluations/runs/spending.html",
        {"rows": rows},
        status=400 if request.method == "POST" else 200,
    )


def _typed(amount: object) -> str | None:
    """Return an amount as a person types it."""
    return None if amount is None else f"{amount:f}".rstrip("0").rstrip(".")
