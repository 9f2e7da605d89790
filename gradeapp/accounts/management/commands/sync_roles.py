"""Make the groups of roles.py, and give each the rights of the Django admin it needs."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from gradeapp.accounts.services import sync_roles


class Command(BaseCommand):
    help = "Make one group for each role in gradeapp/accounts/roles.py. Safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        made = sync_roles()
        self.stdout.write(f"{made} roles made." if made else "Roles are up to date.")
