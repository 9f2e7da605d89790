"""Sessions in the database, as Django keeps them, read by one prepared query."""

from __future__ import annotations

from datetime import datetime

from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils import timezone

from gradeapp.prepared import prepared


@prepared
def _alive(key: str, now: datetime) -> QuerySet[Session, Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=now)


class SessionStore(DatabaseSessions):
    """Looked up in each request, so that a session that was ended is dead at once."""

    def _get_session_from_db(self) -> Session | None:
        found = _alive(self.session_key, timezone.now()) if self.session_key else []
        if not found:
            self._session_key = None
        return found[0] if found else None
