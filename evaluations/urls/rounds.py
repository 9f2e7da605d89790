"""Addresses of the rounds pages."""

from django.urls import URLPattern

app_name = "rounds"
urlpatterns: list[URLPattern] = []
