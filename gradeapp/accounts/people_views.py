"""The pages of people, for admins, and those that a link from there opens."""

from __future__ import annotations

import uuid
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from allauth.account.decorators import reauthentication_required
from allauth.account.utils import perform_login
from allauth.core.exceptions import ReauthenticationRequired
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django import forms
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordMixin
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts import links, people
from gradeapp.accounts.forms import ANOTHER_PASSWORD
from gradeapp.accounts.models import AccessLink, LinkKind, User
from gradeapp.accounts.open_links import open_links, works
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability, Role
from gradeapp.accounts.session_rules import suspend
from gradeapp.accounts.tasks import send_reset_link
from gradeapp.accounts.throttle import Throttled, client_address, fail, reserve, reset_limits
from gradeapp.common.name_checks import validate_plain_name
from gradeapp.common.refusals import BadInput, Conflict
from gradeapp.start_rules import LOOPBACK_HOSTS

PER_PAGE = 50
manages = requires(Capability.OPERATE)


def sensitive(view: Any) -> Any:
    """Ask for the password again before this, at most once in five minutes (CONFIRM_CHANGES)."""
    guarded = reauthentication_required(enabled=lambda request: settings.CONFIRM_CHANGES)(view)

    @wraps(view)
    def noted(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return guarded(request, *args, **kwargs)
        except ReauthenticationRequired:
            suspend(request)
            raise

    return noted


def role_choices() -> list[tuple[str, str]]:
    """The roles in the language of the page."""
    chinese = get_language() == "zh-hans"
    return [(role.value, role.chinese if chinese else role.english) for role in Role]


class RolesForm(forms.Form):
    """Which roles a person has."""

    roles = forms.MultipleChoiceField(
        label=_("Roles"), choices=role_choices, widget=forms.CheckboxSelectMultiple, required=False
    )

    def clean_roles(self) -> list[Role]:
        try:
            people.check_roles(self.cleaned_data["roles"])
        except BadInput as refusal:
            raise forms.ValidationError(str(refusal), code=refusal.code) from None
        return [Role(value) for value in self.cleaned_data["roles"]]


class InviteForm(RolesForm):
    """Whom to invite, as what."""

    name = forms.CharField(
        label=pgettext_lazy("person", "Name"), max_length=100, validators=[validate_plain_name]
    )
    email = forms.EmailField(
        label=_("Mail address"),
        max_length=254,
        required=False,
        help_text=_("For single sign-on and forgotten passwords."),
    )
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid.uuid4)
    field_order = ["name", "email", "roles"]


class NewPasswordForm(SetPasswordMixin, forms.Form):
    """A new password, twice, checked as everywhere."""

    password1, password2 = SetPasswordMixin.create_password_fields()

    def __init__(self, *args: Any, user: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean(self) -> dict[str, Any]:
        self.validate_passwords()
        user = self.user or User(username=self.cleaned_data.get("username", ""))
        self.validate_password_for_user(user)
        new = self.cleaned_data.get("password1")
        if new and user.must_change_password and user.check_password(new):
            self.add_error("password1", ANOTHER_PASSWORD)
        return super().clean() or {}


class AccountForm(NewPasswordForm):
    """The account that an invitation makes."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True}),
    )
    email = forms.EmailField(
        label=_("Mail address"),
        max_length=254,
        required=False,
        help_text=_(
            "Whoever has this address can log in as you, by single sign-on and by a forgotten"
            " password. Change it or leave it empty if it is not yours."
        ),
    )
    field_order = ["username", "email", "password1", "password2"]


@require_safe
@manages
def people_list(request: MemberRequest) -> HttpResponse:
    """Everybody with an account, and the invitations that are open."""
    rows = User.objects.prefetch_related("groups").order_by("-is_active", "username")
    if query := request.GET.get("q", "").strip():
        rows = rows.filter(username__icontains=query) | rows.filter(display_name__icontains=query)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    keys = [user.pk for user in page]
    invitations = open_links(LinkKind.INVITATION).select_related("created_by", "user")
    context = {
        "page": page,
        "query": query,
        "with_factor": set(
            Authenticator.objects.filter(user__in=keys).values_list("user_id", flat=True)
        ),
        "invitations": [link for link in invitations.order_by("-pk") if works(link)],
    }
    return render(request, "accounts/people.html", context)


@manages
@sensitive
def invite(request: MemberRequest) -> HttpResponse:
    """Make an invitation; its link is shown once."""
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        name, roles, email = given["name"], given["roles"], given["email"]
        by = {"acting_user": request.user, "form_key": given["key"]}
        try:
            token = links.invite(name, roles, email=email, **by)
        except (BadInput, Conflict) as refusal:
            form.add_error("email" if refusal.code == "email" else None, str(refusal))
        else:
            address = request.build_absolute_uri(reverse("invitation", args=[token]))
            context = {"address": address, "name": name, "invited": True}
            return render(request, "accounts/link.html", context)
    return render(request, "accounts/invite.html", {"form": form})


@require_POST
@manages
def withdraw_invitation(request: MemberRequest, pk: int) -> HttpResponse:
    """End an invitation that nobody has used."""
    link = get_object_or_404(AccessLink, pk=pk, kind=LinkKind.INVITATION)
    links.withdraw(link, acting_user=request.user)
    return redirect("people")


@manages
@sensitive
def person(request: MemberRequest, pk: int) -> HttpResponse:
    """One person: roles, sessions, and what an admin can do for them."""
    user = get_object_or_404(User, pk=pk)
    form = RolesForm(initial={"roles": [role.value for role in user.roles]})
    if request.method == "POST":
        form = RolesForm(request.POST)
        if form.is_valid():
            seen = request.POST["seen"].split() if "seen" in request.POST else None
            roles = form.cleaned_data["roles"]
            people.set_roles(user, roles, acting_user=request.user, seen=seen)
            return redirect("person", pk=pk)
    context = {
        "person": user,
        "form": form,
        "factors": Authenticator.objects.filter(user=user).exists(),
        "sessions": UserSession.objects.purge_and_list(user),
        "own": user.pk == request.user.pk,
        "may_change": people.may_change(user, request.user),
    }
    return render(request, "accounts/person.html", context)


@require_POST
@manages
@sensitive
def person_change(request: MemberRequest, pk: int, change: str) -> HttpResponse:
    """Activate, deactivate, end sessions, remove second factors, or make a reset link."""
    user = get_object_or_404(User, pk=pk)
    by = request.user
    if change in ("activate", "deactivate"):
        people.set_active(user, active=change == "activate", acting_user=by)
    elif change == "end-sessions":
        people.end_sessions(user, acting_user=by)
        if user.pk == by.pk:
            # The session of this request is gone too, and cannot be saved any more.
            logout(request)
            return redirect("login")
    elif change == "remove-factors":
        people.remove_factors(user, acting_user=by)
    elif change == "reset":
        token = links.reset_link(user, acting_user=by)
        address = request.build_absolute_uri(reverse("reset", args=[token]))
        return render(request, "accounts/link.html", {"address": address, "name": str(user)})
    else:
        raise BadInput(_("There is no such change."))
    return redirect("person", pk=pk)


@never_cache
@sensitive_post_parameters()
@login_not_required
def invitation(request: MemberRequest, token: str) -> HttpResponse:
    """Choose a name and a password; then one is logged in."""
    link = links.find(token, LinkKind.INVITATION)
    form = AccountForm(request.POST or None, initial={"email": link.email})
    status = 200
    if request.method == "POST" and form.is_valid():
        values = form.cleaned_data
        own = values["username"], values["password1"], values["email"]
        try:
            user = links.accept_invitation(token, *own, request=request)
        except BadInput as refusal:
            form.add_error("email" if refusal.code == "email" else "username", str(refusal))
        except Throttled as refusal:
            form.add_error(None, _refused_too_often(refusal.seconds))
            status = refusal.status
        else:
            return perform_login(request, user, redirect_url="/")
    context = {"form": form, "name": link.display_name}
    return render(request, "accounts/invitation.html", context, status=status)


def _refused_too_often(seconds: int) -> str:
    """Return what somebody reads whose invitation takes nothing for some *seconds*."""
    hours = -(-seconds // 3600)
    return ngettext(
        "Too many usernames or mail addresses were refused at this link. Ask an admin for a new"
        " link, or try again in %(n)d hour.",
        "Too many usernames or mail addresses were refused at this link. Ask an admin for a new"
        " link, or try again in %(n)d hours.",
        hours,
    ) % {"n": hours}


def site_of(request: HttpRequest) -> str:
    """The address of the first page for a mail to somebody who did not send *request*.

    Its host is one of ALLOWED_HOSTS. Its port is what the sender wrote: only one on this machine,
    or one that CSRF_TRUSTED_ORIGINS names, is kept.
    """
    host = request.get_host()
    site = f"{request.scheme}://{host}"
    if urlsplit(site).port is None or site in settings.CSRF_TRUSTED_ORIGINS:
        return f"{site}/"
    name = host.rpartition(":")[0]
    return f"{site}/" if name in LOOPBACK_HOSTS else f"{request.scheme}://{name}/"


class ForgotForm(forms.Form):
    """Who has forgotten the password."""

    name = forms.CharField(label=_("Username or mail address"), max_length=254)


@never_cache
@login_not_required
def forgot(request: MemberRequest) -> HttpResponse:
    """Ask for a reset link by mail; the answer is the same for everybody."""
    by_mail = bool(settings.EMAIL_HOST)
    form = ForgotForm(request.POST or None)
    sent = by_mail and request.method == "POST" and form.is_valid()
    if sent:
        name = form.cleaned_data["name"]
        limits = reset_limits(name, client_address(request))
        reserve(limits)
        fail(limits)
        send_reset_link.delay(name, site_of(request), get_language())
    context = {"form": form, "by_mail": by_mail, "sent": sent}
    return render(request, "accounts/forgot.html", context)


@never_cache
@sensitive_post_parameters()
@login_not_required
def reset(request: MemberRequest, token: str) -> HttpResponse:
    """Choose a new password; then one logs in with it."""
    link = links.find(token, LinkKind.RESET)
    form = NewPasswordForm(request.POST or None, user=link.user)
    if request.method == "POST" and form.is_valid():
        links.set_password(token, form.cleaned_data["password1"])
        return redirect("login")
    return render(request, "accounts/reset.html", {"form": form, "name": str(link.user)})
