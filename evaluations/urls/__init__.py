"""The pages of the evaluations, one namespace a feature."""

from django.urls import include, path

urlpatterns = [
    path("runs/", include("evaluations.urls.runs")),
    path("marking/", include("evaluations.urls.marking")),
    path("rounds/", include("evaluations.urls.rounds")),
    path("judging/", include("evaluations.urls.judging")),
    path("reports/", include("evaluations.urls.reports")),
]
