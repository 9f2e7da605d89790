"""The API of the evaluations, one module a feature."""

from evaluations.api import (
    capability_review,
    judging,
    marking,
    marking_sheets,
    reports,
    rounds,
    runs,
    suggesting,
)

urlpatterns = [
    *capability_review.urlpatterns,
    *runs.urlpatterns,
    *suggesting.urlpatterns,
    *marking.urlpatterns,
    *marking_sheets.urlpatterns,
    *rounds.urlpatterns,
    *judging.urlpatterns,
    *reports.urlpatterns,
]
