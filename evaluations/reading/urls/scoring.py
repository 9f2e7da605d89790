"""Addresses of scoring by rule: again in the background, on the keys, both policies compared."""

from django.urls import path

from evaluations.reading.views import policies
from evaluations.reading.views.rescoring import RescoringPages

rescorings = RescoringPages()
app_name = "scoring"
urlpatterns = [
    path("", rescorings.list_view(), name="rescorings"),
    *rescorings.urls_of_one(),
    path("golds/", policies.golds, name="golds"),
    path("run/<int:pk>/", policies.policies_page, name="policies"),
    path("run/<int:pk>.csv", policies.policies_export, name="policies-export"),
]
