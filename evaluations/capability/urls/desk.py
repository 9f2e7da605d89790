"""Addresses of the reviewer's desk. What changes something takes POST only."""

from django.urls import path

from evaluations.capability.views import capability_desk

app_name = "reviewing"
urlpatterns = [
    path("", capability_desk.home, name="home"),
    path("reviews/<uuid:review_id>/", capability_desk.review_page, name="review"),
    path("reviews/<uuid:review_id>/next/", capability_desk.next_answer, name="next"),
    path("reviews/<uuid:review_id>/undo/", capability_desk.undo, name="undo"),
    path("reviews/<uuid:review_id>/leave/", capability_desk.leave, name="leave"),
    path("answers/<uuid:item_id>/", capability_desk.desk, name="desk"),
    path("answers/<uuid:item_id>/save/", capability_desk.save, name="save"),
    path("answers/<uuid:item_id>/skip/", capability_desk.skip, name="skip"),
]
