"""The people of gradeapp."""

from __future__ import annotations

import uuid
from functools import cached_property

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.roles import Capability, Role, capabilities, roles_named


class User(AbstractUser):
    """A person who logs in, or (inactive) a marker named by a published benchmark."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    display_name = models.CharField(_("name"), max_length=100, blank=True)

    class Meta(AbstractUser.Meta):
        db_table = "accounts_user"

    def __str__(self) -> str:
        return self.display_name or self.username

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles of this person, in the order of the list of roles."""
        return roles_named(set(self.groups.values_list("name", flat=True)))

    @cached_property
    def capabilities(self) -> frozenset[Capability]:
        """What this person may do; an inactive person may do nothing."""
        if not self.is_active:
            return frozenset()
        return capabilities([Role.ADMIN, *self.roles] if self.is_superuser else self.roles)

    def may(self, capability: Capability) -> bool:
        """Whether this person may do *capability*."""
        return capability in self.capabilities
