"""The pages of the question bank."""

from django.urls import path

from questions.views import bank

app_name = "questions"
urlpatterns = [
    path("", bank.question_page_list, name="list"),
    path("<uuid:public_id>/", bank.question_page, name="question"),
    path("images/<uuid:public_id>/", bank.question_image, name="image"),
]
