"""Tasks of accounts: expired sessions, and mail.

The worker sends mail, so that a page that asks for it answers the same for everybody.
"""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.core.mail import send_mail
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from gradeapp.accounts.links import reset_link
from gradeapp.accounts.models import User
from gradeapp.accounts.sessions import forget_expired
from gradeapp.common.tasks import STALE_AFTER


@shared_task(name="accounts.forget_sessions", expires=STALE_AFTER)
def forget_sessions() -> None:
    """Delete the sessions that have expired."""
    forget_expired()


# A mail server that does not answer is asked again after half a minute, and then less often.
@shared_task(
    name="accounts.send_reset_link",
    autoretry_for=(OSError,),  # what smtplib raises is one
    max_retries=5,
    retry_backoff=30,
    retry_jitter=False,
)
def send_reset_link(name: str, site: str, language: str) -> None:
    """Mail a reset link to who is called *name*, and who has that address, if they may log in.

    Each gets a link to their own account at their own address: nobody stops the mail of another by
    a username that is their address. An address of two people is that of nobody.
    *site* is the address of the first page, *language* that of the mail.
    """
    people = User.who_may_log_in().exclude(email="")
    named = people.filter(username=name).first()
    if named is not None and named.has_usable_password():
        _mail_reset_link(named, site, language)
    # Other letters (a dotless i) are equal in some database, and no limit counts them as one.
    others = people.filter(email__iexact=name) if name.isascii() else people.none()
    known = [user for user in others[:2] if user.has_usable_password()]
    if len(known) == 1 and known[0] != named:
        _mail_reset_link(known[0], site, language)


def _mail_reset_link(user: User, site: str, language: str) -> None:
    token = reset_link(user, acting_user=None)
    with translation.override(language):
        lines = [
            _("A new password was asked for on Gradeapp. This link sets it:"),
            site.rstrip("/") + reverse("reset", args=[token]),
            _("It works once, for 24 hours. If you did not ask, do nothing."),
        ]
        subject = _("New password on Gradeapp")
    send_mail(subject, "\n\n".join(lines), settings.DEFAULT_FROM_EMAIL, [user.email])
