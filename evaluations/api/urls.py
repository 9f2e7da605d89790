"""The API of the evaluations, one module a feature."""

from evaluations.api import (
    answer_checks,
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
    *answer_checks.urlpatterns,
    *suggesting.urlpatterns,
    *marking.urlpatterns,
    *marking_sheets.urlpatterns,
    *rounds.urlpatterns,
    *judging.urlpatterns,
    *reports.urlpatterns,
]
