"""Single sign-on by OpenID Connect: whom a login elsewhere lets in here.

The site of the organization says who somebody is; whom that is here, and with which roles, an
admin has decided by inviting a person with that mail address. Nobody gets an account by it.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.openid_connect import views as openid
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.http import HttpRequest, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from requests import RequestException

from gradeapp.accounts.models import User
from gradeapp.accounts.provider_calls import check_tls, provider_session
from gradeapp.accounts.throttle import client_address, fail, reserve, sign_on_limits
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, NotAllowed
from gradeapp.common.storable import UNSTORABLE

# In a session: whom a login will connect with whom at the provider, once all its steps are done.
SIGN_ON = "sign_on"
# How long a login may stay at the provider.
SIGN_ON_SECONDS = 1800
# How far the clock of the provider may be ahead, and how long it may take to read an answer.
CLOCKS_DIFFER = 60
READ_SECONDS = 5.0
NOT_WORKED = gettext_lazy("The single sign-on did not work. Start again from the login page.")
SOMEBODY_ELSE = gettext_lazy(
    "Somebody else has logged in here with your mail address before. Ask an admin"
    " to remove the second factors of this account, and then log in again."
)
# What allauth raises for answers of other forms, the last ones for times without a date (also an
# OSError) and for a name that is too long.
UNUSABLE = (
    *(RequestException, LookupError, TypeError, ValueError, AttributeError, RecursionError),
    *(OSError, OverflowError, ImproperlyConfigured),
)
logger = logging.getLogger(__name__)


class SocialAdapter(DefaultSocialAccountAdapter):
    """Connects the first login of a person by a mail address that the provider has verified."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Raise NotAllowed unless exactly one person here may log in as this one."""
        if sociallogin.is_existing:
            if not sociallogin.user.may_log_in:
                raise NotAllowed(_("You don't have access. If you need access, ask an admin."))
            return
        if not sociallogin.email_addresses:
            raise NotAllowed(
                _("The single sign-on does not say which mail address of yours it has verified.")
            )
        found = [
            user
            for address in sociallogin.email_addresses
            for user in User.objects.filter(email__iexact=address.email)
            if user.may_log_in and user.email.isascii()
        ]
        if len(found) != 1:
            raise NotAllowed(
                _("There is no account with your mail address. Ask an admin to invite you with it.")
            )
        if SocialAccount.objects.filter(user=found[0]).exists():
            raise NotAllowed(SOMEBODY_ELSE)
        sociallogin.user = found[0]
        account = sociallogin.account
        request.session[SIGN_ON] = [str(found[0].pk), account.provider, account.uid]

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: Any) -> Any:
        """Raise BadInput unless the ID token names the person, by what can be stored.

        It must be of the issuer in the settings, for this site and for now (OpenID Connect Core,
        3.1.3.7), and what the provider says beside it of the same person (5.3.2). A ``sub`` names
        somebody at one issuer only, so the hash of both is stored. Of all the rest only the
        verified mail addresses are kept, until the login is over.
        """
        account = sociallogin.account
        token, beside = account.extra_data["id_token"], account.extra_data["userinfo"]
        sub = token["sub"]
        if not isinstance(sub, str) or not sub or UNSTORABLE.search(sub) or beside["sub"] != sub:
            raise BadInput(NOT_WORKED)
        here = account.get_provider().app.client_id
        of_issuer = _plain(token["iss"]) == _plain(settings.OIDC_ISSUER)
        if not of_issuer or token.get("azp", here) != here or not _is_for_now(token):
            raise BadInput(NOT_WORKED)
        account.uid = uid_of(sub)
        sociallogin.email_addresses = _verified(sociallogin, beside.get("email"))
        account.extra_data = {}
        return super().populate_user(request, sociallogin, data)

    def get_requests_session(self) -> Any:
        return provider_session(READ_SECONDS)

    def on_authentication_error(self, *args: Any, **kwargs: Any) -> None:
        """Say in one sentence that the other site did not log the person in, or was left."""
        raise BadInput(NOT_WORKED)


def uid_of(sub: str) -> str:
    """Return by what somebody whom the issuer of the settings calls *sub* is known here."""
    return hashlib.sha256(f"{_plain(settings.OIDC_ISSUER)}\n{sub}".encode()).hexdigest()


def _plain(issuer: str) -> str:
    """Return *issuer* without the part that leads to its discovery document."""
    return issuer.partition("/.well-known/")[0].rstrip("/")


def _is_for_now(token: Mapping[str, Any]) -> bool:
    if "exp" not in token:  # the library looks at the time alone
        return False
    latest = time.time() + CLOCKS_DIFFER
    return all(float(token.get(name, 0)) <= latest for name in ("nbf", "iat"))


def _verified(sociallogin: Any, written: object) -> list[Any]:
    """Return the mail addresses that the provider has verified: ``true``, and nothing like it.

    An address in other letters (KELVIN SIGN for k, as *written*) is another one, though equal in
    lower case.
    """
    if not isinstance(written, str) or not written.isascii():
        return []
    return [one for one in sociallogin.email_addresses if one.verified is True and one.email]


def connect_sign_on(request: HttpRequest, user: User) -> None:
    """Remember by whom at the provider *user* is known, after the last step of a first login.

    Another first login may have been faster. One of the same person at the provider is enough;
    raises NotAllowed after one of somebody else there, BadInput where the provider's person has
    become known as another one here.
    """
    person, provider, uid = request.session.pop(SIGN_ON, None) or ("", "", "")
    if person != str(user.pk):
        return
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        if SocialAccount.objects.filter(user=user).exclude(provider=provider, uid=uid).exists():
            raise NotAllowed(SOMEBODY_ELSE)
        account, new = SocialAccount.objects.get_or_create(
            provider=provider, uid=uid, defaults={"user": user}
        )
        if account.user_id != user.pk:
            raise BadInput(NOT_WORKED)
        if new:
            record(Tag.SIGN_ON_CONNECTED, user, actor=user, request=request, provider=provider)


@login_not_required
def start_sign_on(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Lead to the provider, with no other parameter than where to go afterwards.

    The session that remembers it is a short one until its person is logged in. Who is logged in
    stays so: another login would end this session, and with it what is known of the new one.
    Raises Throttled, and BadInput where no person asks: pictures and frames of foreign pages would
    use up what an address may ask for.
    """
    if request.headers.get("Sec-Fetch-Dest", "document") != "document":
        raise BadInput(NOT_WORKED)
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    if settings.OIDC_ISSUER:
        limits = sign_on_limits(client_address(request))
        reserve(limits)
        fail(limits)
    kept = QueryDict(mutable=True)
    if "next" in request.GET:
        kept["next"] = request.GET["next"]
    request.GET = kept
    response = _asked(_begin, request, provider_id)
    request.session.set_expiry(SIGN_ON_SECONDS)
    return response


def _begin(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Lead to the page of the provider, which must come by TLS too: people type passwords there."""
    response: HttpResponseBase = openid.login(request, provider_id)
    if "Location" in response.headers:
        check_tls(response.headers["Location"])
    return response


@login_not_required
def end_sign_on(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Log in whom the provider names, or continue with the next step of the login."""
    if request.user.is_authenticated:
        return redirect(settings.LOGIN_REDIRECT_URL)
    return _asked(openid.callback, request, provider_id)


def _asked(view: Callable[..., Any], request: HttpRequest, provider_id: str) -> HttpResponseBase:
    """Return what *view* of allauth answers, which asks the provider.

    It checks no types: raises BadInput if the provider is down, or sends something else than it
    should.
    """
    try:
        response: HttpResponseBase = view(request, provider_id)
    except UNUSABLE:
        logger.warning("the provider of single sign-on cannot be used", exc_info=True)
        raise BadInput(NOT_WORKED) from None
    return response
