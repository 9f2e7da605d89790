"""The API of runs."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
