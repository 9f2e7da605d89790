"""The sessions of a person: kept in their list, and ended, also before a second step."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from gradeapp.accounts.models import User

# In a session: whose login waits for its second step, and what its password was hashed to.
PENDING = "pending_login"


def pending_login(user: User) -> list[str]:
    """Return what a session keeps of a login of *user* until its last step."""
    return [str(user.pk), user.get_session_auth_hash()]


def keep_listed(request: HttpRequest, before: str | None) -> None:
    """List the session of *request*, whose key was *before*, under the key that it has now.

    Django changes the key with a new password and a new SECRET_KEY; allauth lists sessions by it.
    """
    rows = UserSession.objects.filter(session_key=before or "")
    if not rows.update(session_key=request.session.session_key):
        UserSession.objects.create_from_request(request)


def forget_expired() -> None:
    """Delete sessions that have expired: of people, and of logins that were begun only."""
    SessionStore.clear_expired()


@transaction.atomic
def end_all_of(user: User, *, but: str | None = None) -> int:
    """End the sessions of *user* but the one with that key; returns how many there were."""
    # A change of the own password holds the person while it gives its session another key.
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    UserSession.objects.filter(user=user).exclude(session_key=but or "").delete()
    ended = 0
    # Sessions that began outside of the list (a command, an older version) end too.
    for session in Session.objects.filter(expire_date__gt=timezone.now()).iterator():
        known = session.get_decoded()
        people = {known.get(SESSION_KEY), *known.get(PENDING, ())[:1]}
        if str(user.pk) in people and session.session_key != but:
            session.delete()
            ended += 1
    return ended
