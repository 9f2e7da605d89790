"""URLs of the report pages."""

from django.urls import path

from evaluations.reports.views import reports

app_name = "reports"
urlpatterns = [
    path("", reports.report_overview, name="overview"),
    path("rescore/", reports.report_rescore, name="rescore"),
    path("rows/", reports.report_rows, name="rows"),
    path("pairs/", reports.report_pairs, name="pairs"),
    path("export/<slug:name>.csv", reports.report_export, name="export"),
]
