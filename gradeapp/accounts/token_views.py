"""The page of one's own API tokens."""

from __future__ import annotations

import uuid
from typing import cast

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.utils.functional import lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from gradeapp.accounts.confirmation import check_confirmed
from gradeapp.accounts.models import User
from gradeapp.accounts.own_password import is_own
from gradeapp.accounts.scopes import Scope
from gradeapp.accounts.tokens import MOST_DAYS, fits, make_token, own_tokens, revoke_token
from gradeapp.common.refusals import Refusal


def scope_choices() -> list[tuple[str, str]]:
    """The scopes, named in the reader's language."""
    chinese = (translation.get_language() or "").startswith("zh")
    return [(scope.value, scope.chinese if chinese else scope.english) for scope in Scope]


class TokenForm(forms.Form):
    """What a token is for and how long; with one's own password, as a session may be another's.

    Who has none, but single sign-on, is asked as by ``check_confirmed``.
    """

    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    name = forms.CharField(
        max_length=60, label=_("Name"), help_text=_("What uses the token, such as: nightly report.")
    )
    scopes = forms.MultipleChoiceField(
        choices=lazy(scope_choices, list),
        label=_("The token may"),
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Never more than you may do yourself."),
    )
    days = forms.IntegerField(
        min_value=1, max_value=MOST_DAYS, initial=90, label=_("Valid for days")
    )
    password = forms.CharField(
        label=_("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.user = user
        if not user.has_usable_password():
            del self.fields["password"]

    def clean_password(self) -> str:
        """Refuse another password than that of the person; guesses are counted as at the login."""
        password = str(self.cleaned_data["password"])
        try:
            right = is_own(self.user, password)
        except Refusal as refusal:
            raise forms.ValidationError(str(refusal), code=refusal.code) from None
        if not right:
            raise forms.ValidationError(_("This is not your password."), code="password")
        return password


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest) -> HttpResponse:
    """List one's own tokens; make one, which is shown this once."""
    user = cast("User", request.user)
    if request.method == "POST" and not user.has_usable_password():
        check_confirmed(request)
    form = TokenForm(user, request.POST if request.method == "POST" else None)
    made = None
    if request.method == "POST" and form.is_valid():
        try:
            given = form.cleaned_data
            _row, made = make_token(
                user,
                name=given["name"],
                scopes=[Scope(value) for value in given["scopes"]],
                days=given["days"],
                acting_user=user,
                form_key=given["key"],
            )
            form = TokenForm(user)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
    names = dict(scope_choices())
    rows = [
        {"token": row, "scopes": [names[scope] for scope in row.scopes], "fits": fits(row, user)}
        for row in own_tokens(user)
    ]
    context = {"form": form, "made": made, "rows": rows, "now": timezone.now()}
    context["ended"] = any(not row["fits"] for row in rows)
    return render(request, "accounts/tokens.html", context, status=200)


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke one of one's own tokens."""
    user = cast("User", request.user)
    row = revoke_token(user, pk, acting_user=user)
    messages.success(request, _("The token %(name)s is revoked.") % {"name": row.name})
    return redirect("tokens")
