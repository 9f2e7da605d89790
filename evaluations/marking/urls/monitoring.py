"""Addresses of the monitors of a round, below the round. What changes something takes POST."""

from django.urls import path

from evaluations.marking.monitoring.views import (
    key_flags,
    monitoring,
    returning,
    tolerance_simulator,
)

app_name = "monitoring"
urlpatterns = [
    path("answer-keys/", key_flags.key_flags, name="key-flags"),
    path("<uuid:round_id>/monitoring/", monitoring.round_monitor, name="round"),
    path("<uuid:round_id>/monitoring/export/", monitoring.export, name="export"),
    path("<uuid:round_id>/monitoring/limits/", monitoring.limits, name="limits"),
    path(
        "<uuid:round_id>/monitoring/<uuid:teacher_id>/",
        monitoring.teacher_monitor,
        name="teacher",
    ),
    path("<uuid:round_id>/monitoring/<uuid:teacher_id>/pause/", monitoring.pause, name="pause"),
    path("<uuid:round_id>/monitoring/<uuid:teacher_id>/resume/", monitoring.resume, name="resume"),
    path("<uuid:round_id>/monitoring/<uuid:teacher_id>/remove/", monitoring.remove, name="remove"),
    path(
        "<uuid:round_id>/monitoring/<uuid:teacher_id>/send-back/",
        returning.return_page,
        name="send-back",
    ),
    path("<uuid:round_id>/rubrics/", returning.rubrics, name="rubrics"),
    path("<uuid:round_id>/tolerance/", tolerance_simulator.simulator, name="tolerance"),
]
