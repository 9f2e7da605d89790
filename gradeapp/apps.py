"""The admin of Django, with the site of ``gradeapp.operators``."""

from django.contrib.admin.apps import AdminConfig


class OperatorsConfig(AdminConfig):
    """Loaded in the place of ``django.contrib.admin``."""

    default_site = "gradeapp.operators.OperatorsSite"
