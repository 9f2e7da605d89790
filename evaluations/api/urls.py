"""The API of the evaluations, one module a feature."""

from evaluations.api import capability_review, judging, marking, reports, rounds, runs, suggesting

urlpatterns = [
    *capability_review.urlpatterns,
    *runs.urlpatterns,
    *suggesting.urlpatterns,
    *marking.urlpatterns,
    *rounds.urlpatterns,
    *judging.urlpatterns,
    *reports.urlpatterns,
]
