"""The API of the question bank."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
