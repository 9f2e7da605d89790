"""Pages of endpoints: the list, the form, and the check."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from evaluations.models import Endpoint
from evaluations.runs.forms.runs import EndpointForm, endpoint_initial
from evaluations.runs.rules.presets import PRESETS, preset
from evaluations.runs.selectors.accounts import accounts, get_endpoint
from evaluations.runs.services.endpoint_checks import check_endpoint
from evaluations.runs.services.endpoints import save_endpoint, state_of
from gradeapp.accounts.confirmation import check_confirmed_before
from gradeapp.accounts.own_password import is_own
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.database_clock import database_now
from gradeapp.common.refusals import Refusal


@require_safe
@requires(Capability.OPERATE)
def endpoint_list(request: MemberRequest) -> HttpResponse:
    """List all endpoints."""
    endpoints = Endpoint.objects.select_related("language_model").prefetch_related("judges")
    context = {"endpoints": endpoints, "accounts": accounts(database_now())}
    return render(request, "evaluations/runs/endpoints.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.OPERATE)
def endpoint_new(request: MemberRequest) -> HttpResponse:
    """Show or save the form of a new endpoint."""
    return edit(request, None)


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.OPERATE)
def endpoint_edit(request: MemberRequest, pk: int) -> HttpResponse:
    """Show or save the form of an endpoint."""
    return edit(request, get_endpoint(pk))


def edit(request: MemberRequest, endpoint: Endpoint | None) -> HttpResponse:
    """Show the form, or save it, or show it again with its errors."""
    if request.method != "POST":
        chosen = preset(request.GET.get("preset", "")) if endpoint is None else None
        initial = endpoint_initial(endpoint) if endpoint else None
        form = EndpointForm(initial=chosen.initial() if chosen else initial)
        context = {"form": form, "endpoint": endpoint, "presets": PRESETS, "chosen": chosen}
        return render(request, "evaluations/runs/endpoint.html", context)
    form = EndpointForm(request.POST)
    if form.is_valid():
        try:
            confirmed = _has_confirmed(request, form, endpoint)
            facts = form.facts(endpoint)
            saved = save_endpoint(acting_user=request.user, confirmed=confirmed, **facts)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
            if endpoint is not None and refusal.code == "changed_meanwhile":
                form.data = form.data.copy()
                form.data["seen"] = state_of(get_endpoint(endpoint.pk))
        else:
            messages.success(request, _("%(name)s saved.") % {"name": saved.name})
            return redirect("runs:endpoint", saved.pk)
    context = {"form": form, "endpoint": get_endpoint(endpoint.pk) if endpoint else None}
    context["presets"] = PRESETS
    return render(request, "evaluations/runs/endpoint.html", context, status=400)


def _has_confirmed(request: MemberRequest, form: EndpointForm, endpoint: Endpoint | None) -> bool:
    """Return whether the person has said again who they are, where the address changes.

    Passwords are counted as at the login. Who has none confirms on the page for that, before:
    what was sent here waits nowhere, for a key may be in it. Raises Throttled or NotAllowed.
    """
    user, password = request.user, form.cleaned_data["password"]
    if endpoint is None or form.cleaned_data["base_url"].rstrip("/") == endpoint.base_url:
        return False
    if user.has_usable_password():
        return bool(password) and is_own(user, password)
    check_confirmed_before(request)
    return True


@require_POST
@requires(Capability.OPERATE)
def endpoint_check(request: MemberRequest, pk: int) -> HttpResponse:
    """Check an endpoint by one small call."""
    endpoint = get_endpoint(pk)
    check = check_endpoint(endpoint, acting_user=request.user)
    tell = messages.success if check.works else messages.error
    tell(request, f"{endpoint.name}: {check.sentence}")
    if check.findings:
        messages.info(request, " · ".join(check.findings))
    return redirect("runs:endpoint", pk)
