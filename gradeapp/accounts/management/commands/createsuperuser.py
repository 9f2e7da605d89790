"""Django's createsuperuser, recorded."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.management.commands import createsuperuser
from django.core.management.base import CommandError
from django.db import IntegrityError
from django.db.models import Max

from gradeapp.accounts.models import User
from gradeapp.accounts.people import state
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag


class Command(createsuperuser.Command):
    """Make a superuser, and write it into the audit trail."""

    def handle(self, *args: Any, **options: Any) -> None:
        last = User.objects.aggregate(last=Max("pk"))["last"] or 0
        try:
            super().handle(*args, **options)
        except IntegrityError:
            # Django looks for the name as it was typed, and stores it normalized.
            raise CommandError("Error: That username is already taken.") from None
        # Django does not say whom it has made.
        for person in User.objects.filter(pk__gt=last, is_superuser=True).order_by("pk"):
            record(Tag.PERSON_ADDED, person, actor=None, by="command line", **state(person))
