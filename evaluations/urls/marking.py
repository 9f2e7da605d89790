"""Addresses of the marking pages."""

from django.urls import URLPattern

app_name = "marking"
urlpatterns: list[URLPattern] = []
