"""The API of marking."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
