"""Form fields for the sampling of a run."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import Sampling
from evaluations.models import Endpoint
from evaluations.runs.rules.sampling import FIELDS, REASONING_EFFORTS
from evaluations.runs.services.sampling import sampling_for
from gradeapp.common.refusals import BadInput


class SamplingFields(forms.Form):
    """The fields of ``Sampling``, all optional; a form that inherits them calls ``sampling``.

    Texts are read by ``rules.sampling``, as those of the API and of the command line are.
    """

    sampling_rows = (
        ("temperature", "top_p", "max_tokens"),
        ("seed", "reasoning_effort"),
        ("stop", "extra"),
    )

    temperature = forms.CharField(
        max_length=10,
        required=False,
        label=_("Temperature"),
        help_text=_("Such as 0, 0.3, or “half” of the endpoint's maximum. Empty: 0."),
    )
    top_p = forms.CharField(
        max_length=10, required=False, label=_("Nucleus (top_p)"), help_text=_("Empty: 1.")
    )
    max_tokens = forms.CharField(
        max_length=10,
        required=False,
        label=_("Maximum tokens per reply"),
        help_text=_("Empty: as many as the endpoint allows."),
    )
    seed = forms.CharField(
        max_length=12,
        required=False,
        label=_("Seed"),
        help_text=_("For endpoints that can repeat a sample. Empty: none."),
    )
    reasoning_effort = forms.ChoiceField(
        choices=[("", _("Not sent")), *((one, one) for one in REASONING_EFFORTS)],
        required=False,
        label=_("Reasoning effort"),
    )
    stop = forms.CharField(
        max_length=500,
        required=False,
        strip=False,
        label=_("Stop texts"),
        help_text=_("One per line, up to 4. \\n stands for a line break."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    extra = forms.CharField(
        max_length=1000,
        required=False,
        label=_("Extra parameters (JSON)"),
        help_text=_('Parameters of the endpoint, such as {"top_k": 20}.'),
        widget=forms.Textarea(attrs={"rows": 2, "spellcheck": "false"}),
    )

    def sampling(self, endpoint: Endpoint) -> Sampling | None:
        """Return the sampling on *endpoint*, None if no field is filled in.

        Call it in ``clean``: it adds the error of a bad value to its field, and returns None.
        """
        given = {name: self.cleaned_data.get(name) for name in FIELDS}
        try:
            return sampling_for(endpoint, given)
        except BadInput as bad:
            self.add_error(str(bad.details["field"]), str(bad))
            return None
