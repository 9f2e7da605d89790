"""Addresses of what becomes of objective answers: both policies beside each other."""

from django.urls import path

from evaluations.views import policies

app_name = "scoring"
urlpatterns = [
    path("golds/", policies.golds, name="golds"),
    path("runs/<int:pk>/", policies.policies_page, name="policies"),
    path("runs/<int:pk>.csv", policies.policies_export, name="policies-export"),
]
