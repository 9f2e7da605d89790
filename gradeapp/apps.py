"""The admin of Django, with the site of ``gradeapp.operators``."""

from django.contrib.admin.apps import AdminConfig

# Tables of allauth: keys of sessions, secrets of second factors, providers of logins. Who could
# read or change them there would log in as anybody, and no entry of the audit trail would say so.
SECRET_APPS = frozenset({"account", "mfa", "socialaccount", "usersessions"})


class OperatorsConfig(AdminConfig):
    """Loaded in the place of ``django.contrib.admin``."""

    default_site = "gradeapp.operators.OperatorsSite"

    def ready(self) -> None:
        """Load what the apps register, without the tables that nobody may look into."""
        super().ready()  # type: ignore[no-untyped-call]
        from django.contrib import admin

        known = [*admin.site._registry]
        admin.site.unregister([one for one in known if one._meta.app_label in SECRET_APPS])
