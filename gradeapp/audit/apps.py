from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "gradeapp.audit"
    label = "audit"
    verbose_name = _("audit trail")

    def ready(self) -> None:
        """Register the audit trail as what is sealed; other apps add theirs."""
        from gradeapp.audit.models import AuditEntry
        from gradeapp.audit.sources import Source, register

        fields = ("id", "at", "actor_id", "tag", "target", "detail", "signature")
        register(Source("audit", AuditEntry, fields, "at", signed=True, removable=True))
