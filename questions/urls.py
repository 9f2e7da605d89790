"""The pages of the question bank."""

from django.urls import URLPattern

app_name = "questions"
urlpatterns: list[URLPattern] = []
