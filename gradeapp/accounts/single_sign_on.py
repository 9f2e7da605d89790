"""Single sign-on by OpenID Connect: whom a login elsewhere lets in here.

The site of the organization says who somebody is; whom that is here, and with which roles, an
admin has decided by inviting a person with that mail address. Nobody gets an account by it.
"""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.http import HttpRequest
from django.utils.translation import gettext as _

from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput, NotAllowed


class SocialAdapter(DefaultSocialAccountAdapter):
    """Connects the first login of a person by a mail address that the provider has verified."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Raise NotAllowed unless exactly one person here may log in as this one."""
        if sociallogin.is_existing:
            if not sociallogin.user.may_log_in:
                raise NotAllowed(_("You don't have access. If you need access, ask an admin."))
            return
        verified = [one.email for one in sociallogin.email_addresses if one.verified and one.email]
        found = [
            user
            for email in verified
            for user in User.objects.filter(email__iexact=email)
            if user.may_log_in
        ]
        if len(found) != 1:
            raise NotAllowed(
                _("There is no account with your mail address. Ask an admin to invite you with it.")
            )
        sociallogin.connect(request, found[0])

    def on_authentication_error(self, *args: Any, **kwargs: Any) -> None:
        """Say in one sentence that the other site did not log the person in, or was left."""
        raise BadInput(_("The single sign-on did not work. Start again from the login page."))
