"""URLs of the report pages."""

from django.urls import path

from evaluations.reports.views import (
    behind,
    cuts,
    exports,
    overview,
    paper_cell,
    papers,
    prompt_settings,
    years,
)

app_name = "reports"
pages = exports.ExportPages()
urlpatterns = [
    path("", overview.report_overview, name="overview"),
    path("cuts/", cuts.report_cuts, name="cuts"),
    path("years/", years.report_years, name="years"),
    path("settings/", prompt_settings.report_settings, name="settings"),
    path("rescore/", overview.report_rescore, name="rescore"),
    path("rows/", behind.report_rows, name="rows"),
    path("pairs/", behind.report_pairs, name="pairs"),
    path("papers/", papers.paper_page, name="papers"),
    path("papers/cell/", paper_cell.paper_cell, name="paper-cell"),
    path("export/<slug:name>.<slug:suffix>", exports.report_export, name="export"),
    path("exports/", pages.list_view(), name="exports"),
    *pages.urls_of_one("exports/"),
    path("exports/<int:pk>/file/", pages.shows(pages.file), name="export-file"),
    path("exports/<int:pk>/manifest/", pages.shows(pages.manifest), name="export-manifest"),
]
