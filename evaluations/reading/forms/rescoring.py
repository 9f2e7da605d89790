"""The form that starts a rescoring."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.models import Run
from evaluations.models.vocabulary import RunPurpose
from evaluations.statistics.policies import Policy
from questions.forms.filters import named_choices


class RescoringForm(forms.Form):
    """Which responses, and under which policy; as it stands, all of both."""

    run = forms.ModelChoiceField(
        queryset=Run.objects.none(), required=False, label=_("Run"), empty_label=_("All runs")
    )
    policy = forms.ChoiceField(required=False, label=_("Policy"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        runs = Run.objects.filter(purpose=RunPurpose.ANSWER).order_by("-pk")
        run, policy = self.fields["run"], self.fields["policy"]
        run.queryset = runs.select_related("language_model", "dataset")  # type: ignore[attr-defined]
        run.label_from_instance = run_name  # type: ignore[attr-defined]
        policy.choices = [("", _("Both policies")), *named_choices(Policy)]  # type: ignore[attr-defined]

    def wanted(self) -> tuple[Run | None, Policy | None]:
        """Return the run and the policy; None for all and for both."""
        said = self.cleaned_data
        return said["run"], Policy(said["policy"]) if said["policy"] else None


def run_name(run: Run) -> str:
    """Return a run in one line."""
    return f"{run.pk} · {run.language_model} · {run.dataset}"
