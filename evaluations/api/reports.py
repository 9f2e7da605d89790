"""The API of reports."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
