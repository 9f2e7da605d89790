"""The login page; in the demo it shows the logins."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView

from gradeapp.accounts.demo import DEMO_PEOPLE


class GradeappLoginView(LoginView):
    """Django's login; who is logged in already goes home."""

    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        logins = [person.as_login() for person in DEMO_PEOPLE] if settings.DEMO else []
        return super().get_context_data(demo_logins=logins, **kwargs)
