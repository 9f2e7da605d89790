"""URLs of the pages of the evaluations, with a namespace for each feature."""

from django.urls import include, path

from evaluations.judging import urls as judging
from evaluations.reading.urls import runs as reading
from evaluations.runs import urls as runs
from evaluations.suggesting import urls as suggesting

# Several features have pages below /runs/.
RUNS = [*suggesting.urlpatterns, *reading.urlpatterns, *judging.run_urlpatterns]
RUNS += runs.urlpatterns
urlpatterns = [
    path("runs/scoring/", include("evaluations.reading.urls.scoring")),
    path("runs/imports/", include("evaluations.imports.urls")),
    path("runs/", include((RUNS, runs.app_name))),
    path("checks/", include("evaluations.reading.urls.checks")),
    path("marking/", include("evaluations.marking.urls.desk")),
    path("rounds/", include("evaluations.marking.urls.rounds")),
    path("rounds/", include("evaluations.marking.urls.monitoring")),
    path("reviewing/", include("evaluations.capability.urls.desk")),
    path("reviews/", include("evaluations.capability.urls.review")),
    path("judging/", include("evaluations.judging.urls")),
    path("reports/", include("evaluations.reports.urls")),
]
