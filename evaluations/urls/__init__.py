"""The pages of the evaluations, one namespace a feature."""

from django.urls import include, path

urlpatterns = [
    path("runs/scoring/", include("evaluations.urls.scoring")),
    path("runs/imports/", include("evaluations.urls.answer_imports")),
    path("runs/", include("evaluations.urls.runs")),
    path("checks/", include("evaluations.urls.answer_checks")),
    path("marking/", include("evaluations.urls.marking")),
    path("rounds/", include("evaluations.urls.rounds")),
    path("rounds/", include("evaluations.urls.monitoring")),
    path("reviewing/", include("evaluations.urls.capability_desk")),
    path("reviews/", include("evaluations.urls.capability_review")),
    path("judging/", include("evaluations.urls.judging")),
    path("reports/", include("evaluations.urls.reports")),
]
