"""URLs of imports of answers, marks and gradings."""

from evaluations.imports.views import AnswerPages

app_name = "answer-imports"
urlpatterns = AnswerPages().urls()
