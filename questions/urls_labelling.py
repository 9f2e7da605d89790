"""The pages of labelling: queues, agreement, differences, suggestions, human rates."""

from django.urls import path

from questions.views import human_rates, label_agreement, labelling, suggestions

urlpatterns = [
    path("labelling/", labelling.overview, name="labelling"),
    path("labelling/next/", labelling.next_item, name="labelling-next"),
    path("labelling/undo/", labelling.undo, name="labelling-undo"),
    path("labelling/agreement/", label_agreement.agreement, name="labelling-agreement"),
    path("labelling/differences/", label_agreement.differences, name="labelling-differences"),
    path(
        "labelling/differences/<uuid:public_id>/",
        label_agreement.settle_difference,
        name="labelling-settle",
    ),
    path("labelling/suggestions/", suggestions.suggestions, name="labelling-suggestions"),
    path("labelling/<uuid:public_id>/", labelling.item, name="labelling-item"),
    path("labelling/<uuid:public_id>/history/", labelling.history, name="labelling-history"),
    path("<uuid:public_id>/rates/", human_rates.rates, name="rates"),
]
