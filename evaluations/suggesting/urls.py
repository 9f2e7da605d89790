"""Addresses of suggesting below /runs/, in the namespace ``runs``."""

from django.urls import path

from evaluations.suggesting import views as suggesting

urlpatterns = [
    path("suggest/", suggesting.suggest, name="suggest"),
]
