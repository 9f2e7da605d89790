"""Forms of logging in: Django's and allauth's, with our words and our throttle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from allauth.account.forms import ReauthenticateForm
from allauth.core import context
from allauth.mfa.adapter import get_adapter
from allauth.mfa.base import forms as factor_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.own_password import guess_own
from gradeapp.accounts.throttle import (
    Throttled,
    code_limits,
    guess,
)
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.name_checks import validate_plain_name
from gradeapp.common.refusals import Busy

ANOTHER_PASSWORD = _("Choose another password. Somebody else knows this one.")


class LoginForm(AuthenticationForm):
    """Django's form; what the throttle refuses is said above the fields, which stay filled in."""

    refusal: Throttled | Busy | None = None

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean()
        except (Throttled, Busy) as refusal:
            self.refusal = refusal
            raise ValidationError(str(refusal), code=refusal.code) from None


class ChangeForm(PasswordChangeForm):
    """A new own password; guesses at the old one are counted."""

    def clean_old_password(self) -> str:
        try:
            return str(guess_own(self.user, super().clean_old_password))
        except (Throttled, Busy) as refusal:
            raise ValidationError(str(refusal), code=refusal.code) from None

    def clean(self) -> dict[str, Any]:
        """Refuse the first password itself as the new one: whoever gave it knows it."""
        cleaned: dict[str, Any] = super().clean()
        new = cleaned.get("new_password1")
        if new and self.user.must_change_password and new == cleaned.get("old_password"):
            self.add_error("new_password1", ANOTHER_PASSWORD)
        return cleaned


class ConfirmForm(ReauthenticateForm):
    """The own password again, before something that needs it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["password"]
        field.label = _("Password")
        field.widget.attrs = {"autocomplete": "current-password"}

    def clean_password(self) -> str:
        try:
            return str(super().clean_password())
        except (Throttled, Busy) as refusal:
            raise ValidationError(str(refusal), code=refusal.code) from None


def code_field(label: Any) -> forms.CharField:
    """A field for a code that is used once."""
    attrs = {"autocomplete": "one-time-code", "autofocus": True}
    return forms.CharField(label=label, max_length=20, widget=forms.TextInput(attrs=attrs))


class CountedCode:
    """Wrong codes of one person are counted before they are compared."""

    user: Any

    def clean_code(self) -> str:
        limits = code_limits(self.user.pk)
        try:
            return str(guess(limits, super().clean_code))  # type: ignore[misc]
        except Throttled as refusal:
            raise ValidationError(str(refusal), code=refusal.code) from None


class CodeForm(CountedCode, factor_forms.AuthenticateForm):
    """The second step of a login."""

    code = code_field(_("Code of the app, or a recovery code"))


class ConfirmCodeForm(CountedCode, factor_forms.ReauthenticateForm):
    """A code again, before something that needs it."""

    code = code_field(_("Code of the app, or a recovery code"))


class AppForm(CountedCode, ActivateTOTPForm):
    """Add an authenticator app."""

    code = code_field(_("Code that the app shows"))


class CredentialField(forms.JSONField):
    """What a security key answered, as JSON; the sentence is the same whatever is wrong with it."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        try:
            return super().to_python(value)
        except (ValidationError, RecursionError):
            raise get_adapter().validation_error("incorrect_key") from None

    def bound_data(self, data: Any, initial: Any) -> None:
        """It is not shown again: an answer is for one page."""


def ceremony(read: Callable[[], Any]) -> Any:
    """Call *read*, which takes the answer of a security key apart.

    What is hostile there raises errors of any kind in the libraries that read it.
    """
    try:
        return read()
    except Throttled as refusal:
        raise ValidationError(str(refusal), code=refusal.code) from None
    except Exception:
        raise get_adapter().validation_error("incorrect_key") from None


class KeyLoginForm(AuthenticateWebAuthnForm):
    """A security key as the second step of a login; wrong ones are counted as wrong codes are."""

    credential = CredentialField()

    def clean_credential(self) -> Any:
        limits = code_limits(self.user.pk)
        read = super().clean_credential
        try:
            return ceremony(lambda: guess(limits, read))
        except ValidationError:
            kind = Authenticator.Type.WEBAUTHN
            record(Tag.FACTOR_FAILED, self.user, actor=None, request=context.request, kind=kind)
            raise


class ConfirmKeyForm(KeyLoginForm, ReauthenticateWebAuthnForm):
    """A security key again, before something that needs it."""


def key_name(*, required: bool) -> forms.CharField:
    """A field for the name by which a person tells their keys apart."""
    checks = [validate_plain_name]
    return forms.CharField(
        label=_("Name of the key"), required=required, max_length=100, validators=checks
    )


class KeyForm(AddWebAuthnForm):
    """Add a security key or passkey."""

    credential = CredentialField()

    def clean(self) -> Any:
        return ceremony(super().clean)

    name = key_name(required=False)


class KeyNameForm(EditWebAuthnForm):
    """Rename a security key or passkey."""

    name = key_name(required=True)
