"""Which model is to read the answers that no pattern reads: the form."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from evaluations.models import Run
from evaluations.reading.services.model_reading import MOST_ANSWERS, WantedReading
from evaluations.runs.forms.runs import StartForm
from gradeapp.common import number_fields


class ReadForm(StartForm):
    """A run that reads the unread answers of another run."""

    limit = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_ANSWERS,
        required=False,
        label=_("Maximum number of answers"),
        help_text=_("Empty: all responses without an extracted answer."),
    )

    def wanted(self, run: Run) -> WantedReading:
        """Return the request of a valid form for the answers of *run*."""
        said = self.cleaned_data
        limit = said["limit"] or MOST_ANSWERS
        return WantedReading(run, said["endpoint"], limit, said["shown"])
