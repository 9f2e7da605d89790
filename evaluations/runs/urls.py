"""URLs of runs, responses and endpoints. Views that change something accept only POST."""

from django.urls import path

from evaluations.runs.views import (
    accounts,
    batches,
    conditions,
    endpoints,
    found,
    launch,
    prompts,
    responses,
    runs,
    studies,
)

app_name = "runs"
urlpatterns = [
    path("", runs.run_list, name="list"),
    path("new/", launch.new_run, name="new"),
    path("new/preview/", launch.preview, name="preview"),
    path("<int:pk>/", runs.run_page, name="run"),
    path("<int:pk>/progress/", runs.run_progress, name="progress"),
    path("<int:pk>/stop/", runs.stop, name="stop"),
    path("<int:pk>/pause/", runs.pause, name="pause"),
    path("<int:pk>/resume/", runs.resume, name="resume"),
    path("<int:pk>/retry/", runs.retry, name="retry"),
    path("<int:pk>/extend/", runs.extend, name="extend"),
    path("<int:pk>/batches/", batches.batches_make, name="batches-make"),
    path("<int:pk>/batches/replies/", batches.batch_read, name="batch-read"),
    path("<int:pk>/batches/<int:batch>/", batches.batch_file, name="batch-file"),
    path("<int:pk>/batches/<int:batch>/discard/", batches.batch_discard, name="batch-discard"),
    path("<int:pk>/responses/", responses.response_list_page, name="responses"),
    path("responses/<uuid:public_id>/", responses.response_page, name="response"),
    path("search/", found.search_page, name="search"),
    path("search/export/", found.search_export, name="search-export"),
    path("compare/<uuid:public_id>/", found.compare_page, name="compare"),
    path("conditions/", conditions.condition_list, name="conditions"),
    path("conditions/<uuid:public_id>/", conditions.condition_page, name="condition"),
    path(
        "conditions/<uuid:public_id>/rename/", conditions.condition_rename, name="condition-rename"
    ),
    path("prompts/", prompts.prompt_sets, name="prompt-sets"),
    path("prompts/new/", prompts.prompt_set_new, name="prompt-set-new"),
    path("prompts/<str:slug>/", prompts.prompt_set, name="prompt-set"),
    path("prompts/<str:slug>/file/", prompts.prompt_set_file, name="prompt-set-file"),
    path("prompts/<str:slug>/edit/", prompts.prompt_set_edit, name="prompt-set-edit"),
    path("studies/", studies.study_list, name="studies"),
    path("studies/new/", studies.new_study, name="study-new"),
    path("studies/<int:pk>/", studies.study_page, name="study"),
    path("studies/<int:pk>/rows/", studies.study_rows, name="study-rows"),
    path("studies/<int:pk>/stop/", studies.study_stop, name="study-stop"),
    path("studies/<int:pk>/resume/", studies.study_resume, name="study-resume"),
    path("spending/", accounts.spending_page, name="spending"),
    path("accounts/new/", accounts.account_new, name="account-new"),
    path("accounts/<int:pk>/", accounts.account_edit, name="account"),
    path("accounts/<int:pk>/end-wait/", accounts.account_end_wait, name="account-end-wait"),
    path("endpoints/", endpoints.endpoint_list, name="endpoints"),
    path("endpoints/new/", endpoints.endpoint_new, name="endpoint-new"),
    path("endpoints/<int:pk>/", endpoints.endpoint_edit, name="endpoint"),
    path("endpoints/<int:pk>/check/", endpoints.endpoint_check, name="endpoint-check"),
]
