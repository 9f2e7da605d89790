from importlib import import_module

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "gradeapp.audit"
    label = "audit"
    verbose_name = _("audit trail")

    def ready(self) -> None:
        """Register the audit trail as what is sealed and guarded, and alerts for the home page."""
        from gradeapp.audit.alerts import alerts_waiting
        from gradeapp.audit.models import AuditEntry
        from gradeapp.audit.sources import Source, register
        from gradeapp.audit.triggers import guard
        from gradeapp.audit.values import register_own
        from gradeapp.waiting import register as register_waiting

        fields = ("id", "at", "actor_id", "tag", "target", "detail", "signature")
        register(Source("audit", AuditEntry, fields, "at", signed=True, removable=True))
        newest = import_module("gradeapp.audit.migrations.0008_times_and_copies")
        for table, expected in newest.EXPECTED.items():
            guard("audit", table, expected)
        register_waiting(alerts_waiting)
        register_own()
