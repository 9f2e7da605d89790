"""The pages of rubrics: of one question, and of the whole bank."""

from django.urls import path

from questions.views import rubric_files, rubric_parts, rubrics

urlpatterns = [
    path("rubrics/", rubric_files.bank, name="rubric-bank"),
    path("rubrics/import/", rubric_files.import_file, name="rubric-import"),
    path("rubrics/export/", rubric_files.export, name="rubric-bank-export"),
    path("rubrics/propose/", rubric_files.propose, name="rubric-propose-all"),
    path("rubrics/tasks/<int:pk>/", rubric_parts.drafts, name="rubric-parts"),
    path("<uuid:public_id>/rubrics/", rubrics.versions, name="rubrics"),
    path("<uuid:public_id>/rubrics/new/", rubrics.editor, name="rubric-new"),
    path("<uuid:public_id>/rubrics/propose/", rubrics.propose, name="rubric-propose"),
    path("<uuid:public_id>/rubrics/export/", rubrics.export, name="rubric-export"),
    path("<uuid:public_id>/rubrics/<int:version>/accept/", rubrics.accept, name="rubric-accept"),
]
