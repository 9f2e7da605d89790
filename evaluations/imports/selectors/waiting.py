"""Imports of answers that wait for a confirmation, as a count for the home page."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.waiting import Waiting
from questions.rules.vocabulary import ImportStatus
from questions.selectors.imports import ANSWERS, imports


def imports_waiting(user: User) -> Iterator[Waiting]:
    """Yield the imports of answers that were checked and not yet confirmed; one query."""
    if not user.may(Capability.LEAD_ROUNDS):
        return
    checked = imports(ANSWERS).filter(status=ImportStatus.CHECKED).exclude(folder="").count()
    where = reverse("answer-imports:imports")
    yield Waiting(_("Imports of answers to confirm"), checked, where)
