"""The form of a new run, also filled in from another run."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import ConditionSettings, read_condition
from evaluations.models import Endpoint, Run
from evaluations.runs.forms import amounts
from evaluations.runs.forms.asking import BANK_FILTERS, AskingFields, ChoiceFields
from evaluations.runs.forms.runs import StartForm
from evaluations.runs.forms.sampling import SamplingFields
from evaluations.runs.rules.question_choice import read_choice
from evaluations.runs.services.runs import MOST_REPEATS
from questions.models import Dataset


class NewRunForm(AskingFields, SamplingFields, ChoiceFields, StartForm):
    """Which model sits which exam; all but the model and the exam stands behind "More"."""

    rows = (("endpoint", "dataset"),)
    more: tuple[tuple[str | Promise, tuple[tuple[str, ...], ...]], ...] = (
        (_("How it is asked"), AskingFields.asking_rows),
        (_("Sampling"), SamplingFields.sampling_rows),
        (_("Which questions"), ChoiceFields.choice_rows),
        (_("Repeats, judge and budget"), (("repeats", "budget"), ("judge",), ("batches",))),
    )

    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", label=_("Dataset"), empty_label=None
    )
    repeats = amounts.whole(
        _("Repeats"),
        _("How many times each question is asked."),
        most=MOST_REPEATS,
        required=True,
        initial=1,
    )
    judge = forms.ModelChoiceField(
        Endpoint.objects.all(),
        required=False,
        label=_("Judge"),
        help_text=_("This model marks subjective responses as they arrive."),
        empty_label=_("No judge model"),
    )

    batches = forms.ChoiceField(
        required=False,
        label=_("Batches"),
        choices=[
            ("", _("No: each call by itself")),
            ("api", _("Through the batch API of the endpoint, at half the price")),
            ("files", _("As files that you carry, at half the price")),
        ],
        help_text=_("The endpoint answers a batch within a day."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["budget"].help_text = _(
            "The run pauses before it exceeds the budget. A judge model gets a "
            "budget of the same size. Empty: no limit."
        )

    def clean(self) -> dict[str, Any]:
        """Read the sampling by the limits of the endpoint."""
        endpoint = self.cleaned_data.get("endpoint")
        self.chosen_sampling = self.sampling(endpoint) if endpoint else None
        return self.cleaned_data

    def wanted(self) -> dict[str, Any]:
        """Return what a valid form asks for."""
        names = ("endpoint", "dataset", "repeats", "judge")
        given = {name: self.cleaned_data[name] for name in names}
        by = self.cleaned_data["batches"]
        given |= {"by_batch": bool(by), "batch_api": by == "api"}
        return {**given, "asking": self.asking(self.chosen_sampling), "choice": self.choice()}

    def folds(self) -> list[tuple[str | Promise, list[list[forms.BoundField]], bool]]:
        """Return the parts behind "More": heading, rows of fields, whether one has an error."""
        return [
            (
                heading,
                [[self[name] for name in row] for row in rows],
                any(self[name].errors for row in rows for name in row),
            )
            for heading, rows in self.more
        ]

    def more_is_open(self) -> bool:
        """Return whether "More" is open at first: if a field there was changed or has an error."""
        names = [name for _heading, rows in self.more for row in rows for name in row]
        if not self.is_bound:
            return any(self.initial.get(name) not in (None, "", [], False) for name in names)
        return any(self[name].errors for name in names) or bool(set(names) & set(self.changed_data))


def is_trial(run: Run) -> bool:
    """Return whether *run* asked only a trial of the chosen questions."""
    return "trial_of" in run.run_settings


def initial_of(run: Run, *, all_questions: bool = False) -> dict[str, Any]:
    """Return the initial values of a new run like *run*, which is to be changed.

    A run like a trial asks what the trial asked, or *all_questions* of which it is one.
    """
    settings = run.run_settings
    choice = read_choice(settings.get("choice") or {})
    if all_questions and is_trial(run):
        choice = read_choice(settings["trial_of"])
    given: dict[str, Any] = {one.name: getattr(choice, one.name) for one in fields(choice)}
    given["trial_size"] = given.pop("trial")
    given["ids"] = ",".join(choice.ids)
    query = dict(parse_qsl(choice.query))
    given |= {f"bank_{name}": query.pop(name) for name in BANK_FILTERS if name in query}
    given["query"] = urlencode(query)
    if choice.years:
        given["years"] = "{}-{}".format(*choice.years)
    for name in ("tasks", "subjects"):
        given[name] = list(given[name])
    given |= {"endpoint": run.endpoint_id, "dataset": run.dataset.slug, "repeats": run.repeats}
    by = ("api" if run.batch_api else "files") if run.by_batch else ""
    given |= {"budget": run.budget, "batches": by}
    if run.condition is not None and run.condition.settings:
        given |= asking_initial(read_condition(run.condition.settings))
    return given


def asking_initial(settings: ConditionSettings) -> dict[str, Any]:
    """Return the initial values of the fields that say how questions are asked."""
    names = ("setting", "prompt_set", "max_prompt_tokens", "images", "option_order")
    sampling = settings.sampling
    given = {name: getattr(settings, name) for name in names}
    given |= {"largest_side": settings.largest_side, "option_seed": settings.random_seed}
    for name in ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort"):
        value = getattr(sampling, name)
        given[name] = "" if value is None else f"{value:g}" if name[0] == "t" else value
    given["stop"] = "\n".join(one.replace("\n", "\\n") for one in sampling.stop)
    given["extra"] = json.dumps(dict(sampling.extra)) if sampling.extra else ""
    return given
