"""URLs of the API of the evaluations."""

from evaluations.capability import api as capability_review
from evaluations.judging import api as judging
from evaluations.judging.sampling import api as sampling
from evaluations.marking.desk import api as marking
from evaluations.marking.rounds.api import rounds
from evaluations.marking.sheets import api as marking_sheets
from evaluations.reading import api as answer_checks
from evaluations.reports import api as reports
from evaluations.runs.api import conditions, endpoints, found, responses, runs, studies
from evaluations.suggesting import api as suggesting

urlpatterns = [
    *capability_review.urlpatterns,
    *runs.urlpatterns,
    *found.urlpatterns,
    *responses.urlpatterns,
    *conditions.urlpatterns,
    *endpoints.urlpatterns,
    *studies.urlpatterns,
    *answer_checks.urlpatterns,
    *suggesting.urlpatterns,
    *marking.urlpatterns,
    *marking_sheets.urlpatterns,
    *rounds.urlpatterns,
    *judging.urlpatterns,
    *sampling.urlpatterns,
    *reports.urlpatterns,
]
