"""The API of the question bank."""

from django.urls import path

from questions.api.questions import QuestionAPI, QuestionListAPI

urlpatterns = [
    path("questions/", QuestionListAPI.as_view(), name="api-questions"),
    path("questions/<uuid:public_id>/", QuestionAPI.as_view(), name="api-question"),
]
