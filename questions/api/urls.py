"""The API of the question bank."""

from django.urls import path

from questions.api import human_rates, imports, labels, problems, questions, rubrics

one = "questions/<uuid:public_id>/"
taken = "imports/<int:pk>/"
urlpatterns = [
    path("questions/", questions.QuestionListAPI.as_view(), name="api-questions"),
    path(one, questions.QuestionAPI.as_view(), name="api-question"),
    path(f"{one}labels/", labels.LabelsAPI.as_view(), name="api-labels"),
    path(f"{one}opinions/", labels.OpinionsAPI.as_view(), name="api-opinions"),
    path(f"{one}human-rates/", human_rates.HumanRatesAPI.as_view(), name="api-human-rates"),
    path(f"{one}problems/", problems.ProblemReportAPI.as_view(), name="api-problem-report"),
    path(f"{one}rubrics/", rubrics.RubricsAPI.as_view(), name="api-rubrics"),
    path("knowledge/", questions.KnowledgeAPI.as_view(), name="api-knowledge"),
    path("labels/agreement/", labels.AgreementAPI.as_view(), name="api-label-agreement"),
    path("labels/bulk/", labels.BulkListAPI.as_view(), name="api-bulk-labels"),
    path("labels/bulk/preview/", labels.BulkPreviewAPI.as_view(), name="api-bulk-preview"),
    path("labels/bulk/<int:pk>/undo/", labels.BulkUndoAPI.as_view(), name="api-bulk-undo"),
    path(
        "human-rates/<int:pk>/correct/",
        human_rates.HumanRateCorrectAPI.as_view(),
        name="api-human-rate-correct",
    ),
    path("problems/", problems.ProblemListAPI.as_view(), name="api-problems"),
    path("problems/<int:pk>/decide/", problems.DecideAPI.as_view(), name="api-problem-decide"),
    path("rubrics/<int:pk>/accept/", rubrics.RubricAcceptAPI.as_view(), name="api-rubric-accept"),
    path("imports/", imports.ImportListAPI.as_view(), name="api-imports"),
    path(taken, imports.ImportAPI.as_view(), name="api-import"),
    path(f"{taken}problems/", imports.ImportProblemsAPI.as_view(), name="api-import-problems"),
    path(f"{taken}confirm/", imports.ImportConfirmAPI.as_view(), name="api-import-confirm"),
    path(f"{taken}stop/", imports.ImportStopAPI.as_view(), name="api-import-stop"),
    path(f"{taken}resume/", imports.ImportResumeAPI.as_view(), name="api-import-resume"),
    path(f"{taken}discard/", imports.ImportDiscardAPI.as_view(), name="api-import-discard"),
    path("saved-views/", questions.SavedViewListAPI.as_view(), name="api-saved-views"),
    path("saved-views/<int:pk>/", questions.SavedViewAPI.as_view(), name="api-saved-view"),
]
