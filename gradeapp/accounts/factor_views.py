"""Second factors where allauth does less: who must have one keeps the last; a wrong key is said."""

from __future__ import annotations

from typing import Any

from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.mfa.webauthn.views import ReauthenticateWebAuthnView, RemoveWebAuthnView
from django.db import transaction
from django.http import HttpResponse

from gradeapp.accounts.models import User


class AddApp(ActivateTOTPView):
    """Add the authenticator app. The code that adds it is used by that, as one of a login is."""

    def form_valid(self, form: Any) -> HttpResponse:
        """Add it, then take the code."""
        response = super().form_valid(form)
        app = Authenticator.objects.get(user=self.request.user, type=Authenticator.Type.TOTP)
        app.wrap().validate_code(form.cleaned_data["code"])
        return response


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
