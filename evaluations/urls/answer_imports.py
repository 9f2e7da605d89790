"""Addresses of imports of answers, marks and gradings."""

from evaluations.views.answer_uploads import AnswerPages

app_name = "answer-imports"
urlpatterns = AnswerPages().urls()
