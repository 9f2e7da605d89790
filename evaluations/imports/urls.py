"""URLs of imports of answers, marks and gradings, and of answers that are pasted."""

from django.urls import path

from evaluations.imports.pasting import views as pasting
from evaluations.imports.views import AnswerPages

app_name = "answer-imports"
urlpatterns = [
    path("paste/", pasting.paste_list_page, name="paste-lists"),
    path("paste/<uuid:public_id>/", pasting.paste_page, name="paste"),
    *AnswerPages().urls(),
]
