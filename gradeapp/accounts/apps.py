from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "gradeapp.accounts"
    label = "accounts"
    verbose_name = _("accounts")

    def ready(self) -> None:
        from gradeapp.accounts.factors import record_changes
        from gradeapp.accounts.session_rules import note_logins

        record_changes()
        note_logins()
