"""The API of the evaluations, one module a feature."""

from evaluations.api import judging, marking, reports, runs

urlpatterns = [
    *runs.urlpatterns,
    *marking.urlpatterns,
    *judging.urlpatterns,
    *reports.urlpatterns,
]
