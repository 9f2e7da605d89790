"""The audit trail: who did what to what, only ever added to."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class AuditEntry(models.Model):
    """One deed of one person (or of the system, without an actor)."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="deeds"
    )
    tag = models.CharField(max_length=40)
    target = models.CharField(max_length=80, help_text="model and key, as in run:18")
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"
        indexes = [
            models.Index(fields=["tag", "at"], name="audit_by_tag"),
            models.Index(fields=["target"], name="audit_by_target"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.actor} {self.tag} {self.target}"
