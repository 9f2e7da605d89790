"""The Celery application with a visibility timeout of 3 s instead of 900, for a test."""

from gradeapp.celery import app

app.conf.broker_transport_options = {
    **app.conf.broker_transport_options,
    "visibility_timeout": 3,
}
