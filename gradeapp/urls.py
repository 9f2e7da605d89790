"""Every address of the site. The admin is for operators, where a setting mounts it."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

from gradeapp.pages import home, icon
from gradeapp.schema_view import SchemaView

urlpatterns = [
    path("", home, name="home"),
    path("favicon.ico", icon, name="icon"),
    path("", include("gradeapp.accounts.urls")),
    path("i18n/setlang/", login_not_required(set_language), name="set_language"),
    path("audit/", include("gradeapp.audit.urls")),
    path("questions/", include("questions.urls")),
    path("", include("evaluations.urls")),
    path("api/v1/", include("questions.api.urls")),
    path("api/v1/", include("evaluations.api_urls")),
    path("api/v1/schema/", SchemaView.as_view(), name="schema"),
]
if settings.ADMIN_SITE:
    urlpatterns.append(path("admin/", admin.site.urls))
handler400 = "gradeapp.errors.bad_request"
handler403 = "gradeapp.errors.permission_denied"
handler404 = "gradeapp.errors.not_found"
handler500 = "gradeapp.errors.server_error"
