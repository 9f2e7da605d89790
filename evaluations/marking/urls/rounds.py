"""Addresses of the rounds, for leads."""

from django.urls import path

from evaluations.marking.arbitration import views as arbitration
from evaluations.marking.rounds.views import (
    marking_notes,
    round_life,
    round_marks,
    round_plan,
    rounds,
    seed_answers,
)
from evaluations.marking.sheets.views import round_sheets
from evaluations.marking.sheets.views.sheet_routes import sheet_routes

app_name = "rounds"
urlpatterns = [
    path("", rounds.round_list, name="list"),
    path("new/", round_plan.new_round, name="new"),
    path("<uuid:round_id>/", rounds.round_page, name="round"),
    path("<uuid:round_id>/marks.csv", round_marks.marks_csv, name="marks"),
    path("<uuid:round_id>/start/", round_life.start, name="start"),
    path("<uuid:round_id>/pause/", round_life.pause, name="pause"),
    path("<uuid:round_id>/resume/", round_life.resume, name="resume"),
    path("<uuid:round_id>/close/", round_life.close, name="close"),
    path("<uuid:round_id>/deadline/", round_life.deadline, name="deadline"),
    path("<uuid:round_id>/teachers/", round_life.teachers, name="teachers"),
    path("<uuid:round_id>/rulings/", marking_notes.edit_marking_notes, name="marking-notes"),
    path("<uuid:round_id>/seeds/", seed_answers.seed_list, name="seeds"),
    path("<uuid:round_id>/seeds/<uuid:answer_id>/", seed_answers.seed, name="seed"),
    path("<uuid:round_id>/arbitration/", arbitration.queue, name="arbitration"),
    path("<uuid:round_id>/responses/<uuid:answer_id>/", arbitration.response_page, name="response"),
    path("<uuid:round_id>/responses/<uuid:answer_id>/claim/", arbitration.claim, name="claim"),
    path("<uuid:round_id>/sheets/", round_sheets.sheets, name="sheets"),
    *sheet_routes(round_sheets.LED),
]
