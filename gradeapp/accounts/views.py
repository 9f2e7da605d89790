"""Logging in and out, and the own password; in the demo the login page shows the logins."""

from __future__ import annotations

from typing import Any

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth import logout, update_session_auth_hash, views
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from gradeapp.accounts.demo import DEMO_PEOPLE
from gradeapp.accounts.forms import ChangeForm, LoginForm
from gradeapp.accounts.links import change_own_password
from gradeapp.accounts.session_rules import held_back
from gradeapp.accounts.sessions import keep_listed
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import Conflict, NotAllowed


class LoginView(views.LoginView):
    """Name and password; who has a second factor is asked for it next (allauth)."""

    redirect_authenticated_user = True
    authentication_form = LoginForm

    def form_valid(self, form: LoginForm) -> HttpResponse:
        response: HttpResponse = perform_login(
            self.request, form.get_user(), redirect_url=self.get_success_url()
        )
        return response

    def form_invalid(self, form: LoginForm) -> HttpResponse:
        response = super().form_invalid(form)
        if form.refusal:
            response.status_code = form.refusal.status
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        logins = [person.as_login() for person in DEMO_PEOPLE] if settings.DEMO else []
        sso = settings.OIDC_NAME if settings.OIDC_ISSUER else ""
        return super().get_context_data(demo_logins=logins, sso=sso, **kwargs)


class LogoutView(views.LogoutView):
    """Django's logout, recorded."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        record(Tag.LOGOUT, request.user, actor=request.user, request=request)
        return super().post(request, *args, **kwargs)


class PasswordView(views.PasswordChangeView):
    """The own password; all other sessions and reset links of the person end.

    It is no first password any more.
    """

    form_class = ChangeForm

    def form_valid(self, form: ChangeForm) -> HttpResponse:
        # Hashed before anything is locked: it may have to wait.
        encoded = make_password(form.cleaned_data["new_password1"])
        try:
            with transaction.atomic():
                change_own_password(form.user, encoded, request=self.request)
                # In the same transaction: the session gets another key, so that who ends all
                # sessions at this time would miss it.
                key = self.request.session.session_key
                update_session_auth_hash(self.request, form.user)
                keep_listed(self.request, key)
        except (Conflict, NotAllowed):
            # The session of this request may be gone, and cannot be saved then.
            logout(self.request)
            raise
        return redirect(self.get_success_url())


@login_not_required
@never_cache
@require_safe
def session(request: HttpRequest) -> JsonResponse:
    """Who is logged in here (null for nobody), and the CSRF token that their requests need.

    ``held`` is what they have to do first, or null. A page asks before it sends what would be lost
    if the session had ended.
    """
    user = request.user
    if not user.is_authenticated:
        return JsonResponse({"person": None})
    held = held_back(request)
    state = {"person": str(user.public_id), "token": get_token(request), "held": held and held[1]}
    return JsonResponse(state)
