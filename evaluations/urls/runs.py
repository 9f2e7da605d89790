"""Addresses of runs, responses and endpoints. What changes something takes POST only."""

from django.urls import path

from evaluations.views import endpoints, patterns, responses, runs, suggesting

app_name = "runs"
urlpatterns = [
    path("", runs.run_list, name="list"),
    path("new/", runs.new_run, name="new"),
    path("suggest/", suggesting.suggest, name="suggest"),
    path("<int:pk>/", runs.run_page, name="run"),
    path("<int:pk>/progress/", runs.run_progress, name="progress"),
    path("<int:pk>/judges/", runs.run_judges, name="judges"),
    path("<int:pk>/stop/", runs.stop, name="stop"),
    path("<int:pk>/resume/", runs.resume, name="resume"),
    path("<int:pk>/retry/", runs.retry, name="retry"),
    path("<int:pk>/judge/", runs.judge, name="judge"),
    path("<int:pk>/responses/", responses.response_list_page, name="responses"),
    path("<int:pk>/patterns/", patterns.search_list, name="patterns"),
    path("patterns/<int:pk>/", patterns.search_page, name="pattern-search"),
    path("patterns/<int:pk>/progress/", patterns.search_progress, name="pattern-progress"),
    path("patterns/<int:pk>/stop/", patterns.stop, name="pattern-stop"),
    path("patterns/<int:pk>/resume/", patterns.resume, name="pattern-resume"),
    path("patterns/found/<int:pk>/accept/", patterns.accept, name="pattern-accept"),
    path("patterns/found/<int:pk>/retire/", patterns.retire, name="pattern-retire"),
    path("responses/<uuid:public_id>/", responses.response_page, name="response"),
    path("endpoints/", endpoints.endpoint_list, name="endpoints"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint-new"),
    path("endpoints/<int:pk>/", endpoints.endpoint_edit, name="endpoint"),
    path("endpoints/<int:pk>/check/", endpoints.endpoint_check, name="endpoint-check"),
]
