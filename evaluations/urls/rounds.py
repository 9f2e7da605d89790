"""Addresses of the rounds, for leads."""

from django.urls import path

from evaluations.views import arbitration, rounds

app_name = "rounds"
urlpatterns = [
    path("", rounds.round_list, name="list"),
    path("new/", rounds.new_round, name="new"),
    path("<uuid:round_id>/", rounds.round_page, name="round"),
    path("<uuid:round_id>/close/", rounds.close, name="close"),
    path("<uuid:round_id>/arbitration/", arbitration.queue, name="arbitration"),
    path("<uuid:round_id>/responses/<uuid:answer_id>/", arbitration.response_page, name="response"),
    path("<uuid:round_id>/responses/<uuid:answer_id>/claim/", arbitration.claim, name="claim"),
]
