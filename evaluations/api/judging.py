"""The API of judging."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
