"""The API of the evaluations, one module a feature."""

from evaluations.api import judging, marking, reports, runs, suggesting

urlpatterns = [
    *runs.urlpatterns,
    *suggesting.urlpatterns,
    *marking.urlpatterns,
    *judging.urlpatterns,
    *reports.urlpatterns,
]
