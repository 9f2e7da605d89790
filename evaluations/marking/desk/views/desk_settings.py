""" "Preferences": a teacher's own keys, whether there are any, and the size of type."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from evaluations.marking.desk.forms.desk_settings import DeskSettingsForm
from evaluations.marking.desk.selectors.desk_settings import desk_preferences
from evaluations.marking.desk.services.desk_settings import reset_desk_settings, save_desk_settings
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import BadInput


@require_http_methods(["GET", "HEAD", "POST"])
@requires(Capability.MARK)
def desk_settings(request: MemberRequest) -> HttpResponse:
    """The settings; a POST keeps them or, asked to, goes back to the defaults."""
    if "reset" in request.POST:
        reset_desk_settings(acting_user=request.user)
        messages.success(request, _("Default shortcuts and font size were restored."))
        return redirect("marking:settings")
    form = DeskSettingsForm(request.POST or None, chosen=desk_preferences(request.user))
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, status=400 if request.method == "POST" else 200)
    try:
        save_desk_settings(acting_user=request.user, **form.as_settings())
    except BadInput as refusal:
        form.add_error(None, str(refusal))
        return _page(request, form, status=refusal.status)
    messages.success(request, _("Your preferences were saved."))
    return redirect("marking:settings")


def _page(request: MemberRequest, form: DeskSettingsForm, *, status: int) -> HttpResponse:
    return render(request, "evaluations/marking/desk/settings.html", {"form": form}, status=status)
