"""Addresses of checks of answers. What changes something takes POST only."""

from django.urls import path

from evaluations.reading.views import answer_checks, check_desk, model_reading

app_name = "checks"
urlpatterns = [
    path("", answer_checks.overview, name="overview"),
    path("next/", check_desk.next_item, name="next"),
    path("undo/", check_desk.undo, name="undo"),
    path("sample/", answer_checks.sample, name="sample"),
    path("corrections/", answer_checks.cases, name="cases"),
    path("differences/", answer_checks.difference_list, name="differences"),
    path("runs/<int:pk>/read/", model_reading.read, name="read"),
    path("<uuid:public_id>/", check_desk.item, name="item"),
]
