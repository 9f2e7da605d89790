"""The page of the audit trail, and its file."""

from django.urls import path

from gradeapp.audit import views

app_name = "audit"
urlpatterns = [
    path("", views.trail, name="trail"),
    path("alerts/<int:pk>/acknowledge/", views.acknowledge_alert, name="alert-acknowledge"),
    path("export/", views.export, name="export"),
]
