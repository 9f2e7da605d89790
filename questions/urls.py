"""The pages of the question bank."""

from django.urls import include, path

from questions.views import bank, bulk_labels, exports, imports, problems, question, saved_views

app_name = "questions"
urlpatterns = [
    path("", bank.question_page_list, name="list"),
    path("<uuid:public_id>/", question.question_page, name="question"),
    path("<uuid:public_id>/labels/", question.save_labels, name="labels"),
    path("images/<uuid:public_id>/", bank.question_image, name="image"),
    path("", include("questions.urls_labelling")),
    path("", include("questions.urls_rubrics")),
    path("views/", saved_views.save, name="view-save"),
    path("views/<int:pk>/name/", saved_views.rename, name="view-rename"),
    path("views/<int:pk>/delete/", saved_views.delete, name="view-delete"),
    path("bulk/", bulk_labels.changes, name="bulk"),
    path("bulk/preview/", bulk_labels.preview, name="bulk-preview"),
    path("bulk/apply/", bulk_labels.apply, name="bulk-apply"),
    path("bulk/<int:pk>/", bulk_labels.change_page, name="bulk-change"),
    path("bulk/<int:pk>/undo/", bulk_labels.undo, name="bulk-undo"),
    path("export/", exports.question_export, name="export"),
    path("problems/", problems.problems, name="problems"),
    path("problems/export/", problems.export, name="problems-export"),
    path("problems/<int:pk>/", problems.problem_page, name="problem"),
    path("imports/exam-format.schema.json", imports.exam_format, name="exam-format"),
    path("imports/", include(imports.ImportPages().urls())),
]
