"""Addresses of the marking desk. What changes something takes POST only."""

from django.urls import path

from evaluations.marking.desk.views import desk_settings, marking, own_marks
from evaluations.marking.sheets.views import marking_sheets
from evaluations.marking.sheets.views.sheet_routes import sheet_routes

app_name = "marking"
urlpatterns = [
    path("", marking.home, name="home"),
    path("marks/", own_marks.own_marks_page, name="marks"),
    path("settings/", desk_settings.desk_settings, name="settings"),
    path("rounds/<uuid:round_id>/", marking.round_page, name="round"),
    path("rounds/<uuid:round_id>/next/", marking.next_response, name="next"),
    path("rounds/<uuid:round_id>/undo/", marking.undo, name="undo"),
    path("rounds/<uuid:round_id>/done/", marking.done, name="done"),
    path("rounds/<uuid:round_id>/leave/", marking.leave, name="leave"),
    path("responses/<uuid:answer_id>/", marking.desk, name="desk"),
    path("responses/<uuid:answer_id>/revise/", marking.revise, name="revise"),
    path("responses/<uuid:answer_id>/save/", marking.save, name="save"),
    path("responses/<uuid:answer_id>/skip/", marking.skip, name="skip"),
    path("responses/<uuid:answer_id>/ahead/", marking.ahead, name="ahead"),
    path("responses/<uuid:answer_id>/draft/", marking.draft, name="draft"),
    path("responses/<uuid:answer_id>/print/", marking_sheets.print_response, name="print"),
    path("rounds/<uuid:round_id>/sheets/", marking_sheets.sheets, name="sheets"),
    *sheet_routes(marking_sheets.OWN),
]
