"""Addresses of the reports pages."""

from django.urls import URLPattern

app_name = "reports"
urlpatterns: list[URLPattern] = []
