"""The people of gradeapp."""

from __future__ import annotations

import uuid
from functools import cached_property

from django.conf import settings
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from gradeapp.accounts.blindness import is_marking
from gradeapp.accounts.roles import (
    OPEN_WHILE_MARKING,
    Capability,
    Role,
    capabilities,
    roles_named,
)
from gradeapp.common.checks import known


class User(AbstractUser):
    """A person who logs in, or (inactive) a marker named by a published benchmark."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    display_name = models.CharField(_("name"), max_length=100, blank=True)
    must_change_password = models.BooleanField(_("must change the password"), default=False)
    is_demo = models.BooleanField(
        _("person of the demo"),
        default=False,
        editable=False,
        help_text=_("The password is public: may log in while the demo runs, never elsewhere."),
    )

    class Meta(AbstractUser.Meta):
        db_table = "accounts_user"

    def __str__(self) -> str:
        return self.display_name or self.username

    def check_password(self, raw_password: str | None) -> bool:
        """Return whether *raw_password* is the password of this person, as they were read.

        A hash of other parameters is renewed, unless the password was changed meanwhile.
        """

        def renew(raw_password: str) -> None:
            encoded = make_password(raw_password)
            if User.objects.filter(pk=self.pk, password=self.password).update(password=encoded):
                self.password = encoded

        return bool(check_password(raw_password, self.password, renew))

    @property
    def may_log_in(self) -> bool:
        """Whether this person is active and, for one of the demo, the demo runs."""
        return self.is_active and (settings.DEMO or not self.is_demo)

    @classmethod
    def who_may_log_in(cls) -> models.QuerySet[User]:
        """The people of whom ``may_log_in`` is true."""
        active = cls.objects.filter(is_active=True)
        return active if settings.DEMO else active.filter(is_demo=False)

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles of this person, in the order of the list of roles."""
        return roles_named(set(self.groups.values_list("name", flat=True)))

    @cached_property
    def granted(self) -> frozenset[Capability]:
        """What the roles of this person allow; an inactive person may do nothing."""
        if not self.is_active:
            return frozenset()
        return capabilities([Role.ADMIN, *self.roles] if self.is_superuser else self.roles)

    @cached_property
    def capabilities(self) -> frozenset[Capability]:
        """What this person may do now: while they mark blind, less than their roles allow."""
        blind = self.granted & OPEN_WHILE_MARKING
        return blind if blind != self.granted and is_marking(self.pk) else self.granted

    def may(self, capability: Capability) -> bool:
        """Whether this person may do *capability* now."""
        return capability in self.capabilities


class GuessCount(models.Model):
    """How many guesses one limit has counted since when (``gradeapp.accounts.throttle``)."""

    key = models.CharField(max_length=64, unique=True)
    count = models.PositiveIntegerField(default=0)
    # Guesses that are being looked at
    pending = models.PositiveIntegerField(default=0)
    since = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.key[:8]} {self.count}"


class LinkKind(models.TextChoices):
    """What a link that is used once does."""

    INVITATION = "invitation"
    RESET = "reset"


class AccessLink(models.Model):
    """A link that is used once (``gradeapp.accounts.links``); only its hash is known."""

    kind = models.CharField(max_length=12, choices=LinkKind.choices)
    token_hash = models.CharField(max_length=64, unique=True)
    # The person it is for, or whom it made
    user = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="links")
    display_name = models.CharField(max_length=100, blank=True)
    email = models.EmailField(blank=True)
    roles = models.JSONField(default=list)
    created_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="made_links"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    # Of the form that made an invitation; sent again, it makes another link and ends this one
    form_key = models.UUIDField(null=True, db_index=True)

    class Meta:
        constraints = [known("link_kind_known", kind=LinkKind)]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def role_list(self) -> tuple[Role, ...]:
        """The roles that an invitation gives."""
        return roles_named(set(self.roles))


class ApiToken(models.Model):
    """A token of a person for scripts; what it is, only its hash knows (``accounts.tokens``)."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="api_tokens")
    name = models.CharField(max_length=60)
    # The last four characters, to tell tokens apart
    hint = models.CharField(max_length=4)
    token_hash = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    # The roles and the password of the person when it was made
    standing = models.JSONField(default=list)
    session_hash = models.CharField(max_length=128)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    # Of the form that made it; sent again, it makes another token and ends this one
    form_key = models.UUIDField(null=True, db_index=True)
    # Requests of the running minute
    window_at = models.DateTimeField(null=True)
    window_count = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.name} …{self.hint}"
