"""Addresses of scoring by rule: again in the background, on the keys, both policies compared."""

from django.urls import path

from evaluations.reading.views import policies, rescoring

app_name = "scoring"
urlpatterns = [
    path("", rescoring.rescoring_list, name="rescorings"),
    path("<int:pk>/", rescoring.rescoring_page, name="rescoring"),
    path("<int:pk>/progress/", rescoring.rescoring_progress, name="progress"),
    path("<int:pk>/stop/", rescoring.stop, name="stop"),
    path("<int:pk>/resume/", rescoring.resume, name="resume"),
    path("golds/", policies.golds, name="golds"),
    path("run/<int:pk>/", policies.policies_page, name="policies"),
    path("run/<int:pk>.csv", policies.policies_export, name="policies-export"),
]
