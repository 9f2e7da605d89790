"""URLs of runs, responses and endpoints. Views that change something accept only POST."""

from django.urls import path

from evaluations.runs.views import conditions, endpoints, responses, runs

app_name = "runs"
urlpatterns = [
    path("", runs.run_list, name="list"),
    path("new/", runs.new_run, name="new"),
    path("<int:pk>/", runs.run_page, name="run"),
    path("<int:pk>/progress/", runs.run_progress, name="progress"),
    path("<int:pk>/stop/", runs.stop, name="stop"),
    path("<int:pk>/resume/", runs.resume, name="resume"),
    path("<int:pk>/retry/", runs.retry, name="retry"),
    path("<int:pk>/responses/", responses.response_list_page, name="responses"),
    path("responses/<uuid:public_id>/", responses.response_page, name="response"),
    path("conditions/", conditions.condition_list, name="conditions"),
    path("conditions/<uuid:public_id>/", conditions.condition_page, name="condition"),
    path(
        "conditions/<uuid:public_id>/rename/", conditions.condition_rename, name="condition-rename"
    ),
    path("endpoints/", endpoints.endpoint_list, name="endpoints"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint-new"),
    path("endpoints/<int:pk>/", endpoints.endpoint_edit, name="endpoint"),
    path("endpoints/<int:pk>/check/", endpoints.endpoint_check, name="endpoint-check"),
]
