"""Second factors where allauth does less: who must have one keeps the last; a wrong key is said."""

from __future__ import annotations

from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import ReauthenticateWebAuthnView, RemoveWebAuthnView
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from gradeapp.accounts.models import User


class AddApp(ActivateTOTPView):
    """Add the authenticator app. The code that adds it is used by that, as one of a login is.

    A form that is sent twice, as by a double click, adds one, and leads to the recovery codes.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """The page, unless a form has added an app already; allauth leads to the removal then."""
        if request.method == "POST" and _has_app(request):
            return redirect("mfa_view_recovery_codes")
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        """Add it, then take the code."""
        with transaction.atomic():
            User.objects.select_for_update().get(pk=self.request.user.pk)
            if _has_app(self.request):
                return redirect("mfa_view_recovery_codes")
            response = super().form_valid(form)
            app = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
            app.wrap().validate_code(form.cleaned_data["code"])
        return response


def _has_app(request: HttpRequest) -> bool:
    kind = Authenticator.Type.TOTP
    return bool(Authenticator.objects.filter(user_id=request.user.pk, type=kind).exists())


class RemoveApp(DeactivateTOTPView):
    """Remove the authenticator app. One removal comes after the other: two would leave nothing."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it, if it may be removed now."""
        with transaction.atomic():
            refuse_the_last(self.authenticator, form)
            if form.errors:
                return self.form_invalid(form)
            return super().form_valid(form)


class RemoveKey(RemoveWebAuthnView):
    """Remove a security key or passkey; allauth asks for apps alone whether it may be removed."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Remove it, if it may be removed now."""
        with transaction.atomic():
            refuse_the_last(self.get_object(), form)
            if form.errors:
                return self.form_invalid(form)
            return super().form_valid(form)


class ConfirmByKey(ReauthenticateWebAuthnView):
    """Confirm by a security key; a wrong one is said there, and nothing that waits is lost."""

    def form_invalid(self, form: Any) -> HttpResponse:
        """The page again, with the sentence."""
        return self.render_to_response(self.get_context_data() | {"form": form})


def refuse_the_last(factor: Authenticator, form: Any) -> None:
    """Lock the person, and add the sentence to *form* if *factor* is one that they must keep."""
    User.objects.select_for_update().get(pk=factor.user_id)
    adapter = get_adapter()
    if not adapter.can_delete_authenticator(factor):
        form.add_error(None, adapter.error_messages["cannot_delete_authenticator"])
