"""Addresses of reviews of wrong answers, for leads."""

from django.urls import path

from evaluations.capability.views import capability_review

app_name = "reviews"
urlpatterns = [
    path("", capability_review.review_list, name="list"),
    path("new/", capability_review.new_review, name="new"),
    path("<uuid:review_id>/", capability_review.review_page, name="review"),
    path("<uuid:review_id>/answers/", capability_review.answers, name="answers"),
    path("<uuid:review_id>/close/", capability_review.close, name="close"),
    path("<uuid:review_id>/export/<slug:name>.csv", capability_review.export, name="export"),
]
