"""Addresses of reading below /runs/, in the namespace ``runs``."""

from django.urls import path

from evaluations.reading.views import patterns

searches = patterns.SearchPages()
urlpatterns = [
    path("<int:pk>/patterns/", searches.list_view(), name="patterns"),
    *searches.urls_of_one("patterns/"),
    path("patterns/found/<int:pk>/accept/", patterns.accept, name="pattern-accept"),
    path("patterns/found/<int:pk>/retire/", patterns.retire, name="pattern-retire"),
]
