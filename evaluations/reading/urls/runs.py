"""Addresses of reading below /runs/, in the namespace ``runs``."""

from django.urls import path

from evaluations.reading.views import patterns

urlpatterns = [
    path("<int:pk>/patterns/", patterns.search_list, name="patterns"),
    path("patterns/<int:pk>/", patterns.search_page, name="pattern-search"),
    path("patterns/<int:pk>/progress/", patterns.search_progress, name="pattern-progress"),
    path("patterns/<int:pk>/stop/", patterns.stop, name="pattern-stop"),
    path("patterns/<int:pk>/resume/", patterns.resume, name="pattern-resume"),
    path("patterns/found/<int:pk>/accept/", patterns.accept, name="pattern-accept"),
    path("patterns/found/<int:pk>/retire/", patterns.retire, name="pattern-retire"),
]
