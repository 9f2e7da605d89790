"""URLs of the report pages."""

from django.urls import path

from evaluations.reports.views import cuts, reports, years

app_name = "reports"
urlpatterns = [
    path("", reports.report_overview, name="overview"),
    path("cuts/", cuts.report_cuts, name="cuts"),
    path("years/", years.report_years, name="years"),
    path("rescore/", reports.report_rescore, name="rescore"),
    path("rows/", reports.report_rows, name="rows"),
    path("pairs/", reports.report_pairs, name="pairs"),
    path("export/<slug:name>.csv", reports.report_export, name="export"),
]
