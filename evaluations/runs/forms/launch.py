"""Forms of a new run and a new study: how the questions are asked, and which."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import (
    MOST_PROMPT_TOKENS,
    Asking,
    ConditionSettings,
    ImagePolicy,
    OptionOrder,
    PromptSetting,
    Sampling,
    read_condition,
)
from evaluations.models import Endpoint, PromptSet, Run
from evaluations.runs.forms.runs import StartForm
from evaluations.runs.forms.sampling import SamplingFields
from evaluations.runs.rules.prompting.shipped_sets import SHIPPED
from evaluations.runs.rules.question_choice import QuestionChoice, read_choice, read_years
from evaluations.runs.rules.sampling import FIELDS
from evaluations.runs.services.prompt_sets import OWN_SET
from evaluations.runs.services.runs import MOST_REPEATS
from evaluations.runs.services.sampling import sampling_for
from gradeapp.common import number_fields
from questions.forms.filters import QuestionFilter, named_choices
from questions.models import Dataset, Task
from questions.rules.vocabulary import Part, Subject
from questions.templatetags.names import task_name

# The filters of the bank that the form offers beside its own fields.
BANK_FILTERS = ("labels", "difficulty", "branch", "modal", "knowledge", "type")
STRATA_NAMES = (
    ("", _("Not stratified")),
    ("task", _("Task")),
    ("subject", _("Subject")),
    ("year", _("Year")),
)


def prompt_set_choices() -> list[tuple[str, str]]:
    """Return the prompt sets that a run can use, the own one first."""
    stored = PromptSet.objects.exclude(slug__in=SHIPPED).order_by("slug")
    return [(slug, slug) for slug in (*SHIPPED, *stored.values_list("slug", flat=True))]


class AskingFields(forms.Form):
    """How the questions are asked, but for the sampling."""

    asking_rows: tuple[tuple[str, ...], ...] = (
        ("setting", "prompt_set", "max_prompt_tokens"),
        ("images", "option_order"),
    )

    setting = forms.ChoiceField(
        choices=lambda: named_choices(PromptSetting),
        required=False,
        label=_("Setting"),
        help_text=_("Chain of thought asks for the reasoning first, few-shot shows examples."),
    )
    prompt_set = forms.ChoiceField(choices=prompt_set_choices, required=False, label=_("Prompts"))
    max_prompt_tokens = number_fields.IntegerField(
        min_value=0,
        max_value=1_000_000,
        initial=MOST_PROMPT_TOKENS,
        required=False,
        label=_("Tokens for examples"),
        help_text=_("Examples that pass this number are left out."),
    )
    images = forms.ChoiceField(
        choices=lambda: named_choices(ImagePolicy),
        initial=ImagePolicy.OMIT,
        required=False,
        label=_("Images"),
    )
    option_order = forms.ChoiceField(
        choices=lambda: named_choices(OptionOrder),
        required=False,
        label=_("Order of options"),
        help_text=_("Another order in each repeat shows whether the model chooses by position."),
    )

    def asking(self, sampling: Sampling | None = None) -> Asking:
        """Return how a valid form asks, with *sampling*."""
        said = self.cleaned_data
        tokens = said["max_prompt_tokens"]
        return Asking(
            setting=PromptSetting(said["setting"] or PromptSetting.ZERO_SHOT),
            prompt_set=said["prompt_set"] or OWN_SET,
            sampling=sampling,
            max_prompt_tokens=MOST_PROMPT_TOKENS if tokens is None else tokens,
            images=ImagePolicy(said["images"] or ImagePolicy.OMIT),
            option_order=OptionOrder(said["option_order"] or OptionOrder.PRINTED),
        )


class ChoiceFields(forms.Form):
    """Which questions of a dataset; every field that is set restricts them."""

    choice_rows: tuple[tuple[str, ...], ...] = (
        ("tasks", "subjects"),
        ("part", "years", "limit"),
        ("sample", "random_seed", "stratified_by"),
        ("bank_labels", "bank_difficulty"),
        ("bank_branch", "bank_modal"),
        ("bank_knowledge", "bank_type"),
        ("query",),
    )

    tasks = forms.MultipleChoiceField(
        required=False, label=_("Tasks"), widget=forms.SelectMultiple(attrs={"size": 5})
    )
    subjects = forms.MultipleChoiceField(
        choices=lambda: named_choices(Subject),
        required=False,
        label=_("Subjects"),
        widget=forms.SelectMultiple(attrs={"size": 5}),
    )
    part = forms.ChoiceField(
        choices=lambda: [("", _("Both parts")), *named_choices(Part)],
        required=False,
        label=_("Part"),
    )
    years = forms.CharField(
        max_length=20, required=False, label=_("Years"), help_text=_("2019-2022 or 2021")
    )
    limit = number_fields.IntegerField(
        min_value=1,
        required=False,
        label=_("Maximum number of questions"),
        help_text=_("Spread evenly over the tasks. Empty: all questions."),
    )
    sample = number_fields.IntegerField(
        min_value=1,
        required=False,
        label=_("Random sample"),
        help_text=_("So many of the questions, drawn at random."),
    )
    random_seed = number_fields.IntegerField(
        min_value=0,
        max_value=2**53,
        initial=0,
        required=False,
        label=_("Random seed"),
        help_text=_("The same seed draws the same sample."),
    )
    stratified_by = forms.ChoiceField(
        choices=STRATA_NAMES,
        required=False,
        label=_("Stratified by"),
        help_text=_("The sample is in proportion to these."),
    )
    # Public ids with commas between, as a run by the API may have them.
    ids = forms.CharField(max_length=200_000, required=False, widget=forms.HiddenInput)
    query = forms.CharField(
        max_length=1000,
        required=False,
        label=_("Filters of the bank"),
        help_text=_("The address of a list of questions after the ?, or a saved view below."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        slugs = Task.objects.order_by("dataset__slug", "slug").values_list("slug", flat=True)
        shown = [(slug, task_name(slug)) for slug in dict.fromkeys(slugs)]
        self.fields["tasks"].choices = shown  # type: ignore[attr-defined]
        filters = QuestionFilter().form.fields
        self.fields |= {f"bank_{name}": filters[name] for name in BANK_FILTERS}

    def clean_years(self) -> tuple[int, int] | None:
        """Return the first and the last year."""
        try:
            return read_years(self.cleaned_data["years"])
        except ValueError:
            raise forms.ValidationError(_("Write years as 2019-2022 or 2021.")) from None

    def choice(self) -> QuestionChoice:
        """Return the questions that a valid form chooses."""
        said = self.cleaned_data
        typed = dict(parse_qsl(said["query"].removeprefix("?")))
        chosen = {name: said[f"bank_{name}"] for name in BANK_FILTERS if said[f"bank_{name}"]}
        return QuestionChoice(
            tasks=tuple(said["tasks"]),
            subjects=tuple(said["subjects"]),
            part=said["part"],
            years=said["years"],
            ids=tuple(filter(None, said["ids"].split(","))),
            query=urlencode({**typed, **chosen}),
            limit=said["limit"],
            sample=said["sample"],
            random_seed=said["random_seed"] or 0,
            stratified_by=said["stratified_by"],
        )

    def choice_fields(self) -> list[list[forms.BoundField]]:
        """Return the fields as pages show them, side by side."""
        return [[self[name] for name in row] for row in self.choice_rows]


class NewRunForm(AskingFields, SamplingFields, ChoiceFields, StartForm):
    """Which model sits which exam; all but the model and the exam stands behind "More"."""

    rows = (("endpoint", "dataset"),)
    more: tuple[tuple[str | Promise, tuple[tuple[str, ...], ...]], ...] = (
        (_("How it is asked"), AskingFields.asking_rows),
        (_("Sampling"), SamplingFields.sampling_rows),
        (_("Which questions"), ChoiceFields.choice_rows),
        (_("Repeats, judge and budget"), (("repeats", "budget"), ("judge",))),
    )

    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", label=_("Dataset"), empty_label=None
    )
    repeats = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_REPEATS,
        initial=1,
        label=_("Repeats"),
        help_text=_("How many times each question is asked."),
    )
    judge = forms.ModelChoiceField(
        Endpoint.objects.all(),
        required=False,
        label=_("Judge"),
        help_text=_("This model marks subjective responses as they arrive."),
        empty_label=_("No judge model"),
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
            return any(self.initial.get(name) not in (None, "", []) for name in names)
        return any(self[name].errors for name in names) or bool(set(names) & set(self.changed_data))


class ConditionRow(AskingFields, SamplingFields):
    """One condition of a study. A row without a setting is left out."""

    rows = ("setting", "prompt_set", "temperature", "images", "option_order")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = named_choices(PromptSetting)
        self.fields["setting"].choices = [("", _("No condition")), *named]  # type: ignore[attr-defined]
        for name in self.rows:
            self.fields[name].help_text = ""

    def in_row(self) -> list[forms.BoundField]:
        """Return the fields as the page shows them."""
        return [self[name] for name in self.rows]

    def for_endpoint(self, endpoint: Endpoint) -> Asking:
        """Return how a valid row asks *endpoint*. Raises BadInput."""
        given = {name: self.cleaned_data.get(name) for name in FIELDS}
        return self.asking(sampling_for(endpoint, given))


class StudyForm(ChoiceFields):
    """A study: several endpoints and conditions over one choice of questions."""

    name = forms.CharField(max_length=120, label=_("Name of the study"))
    dataset = forms.ModelChoiceField(
        Dataset.objects.all(), to_field_name="slug", label=_("Dataset"), empty_label=None
    )
    endpoints = forms.ModelMultipleChoiceField(
        Endpoint.objects.select_related("language_model"),
        label=_("Endpoints"),
        widget=forms.CheckboxSelectMultiple,
    )
    repeats = number_fields.IntegerField(
        min_value=1,
        max_value=MOST_REPEATS,
        initial=1,
        label=_("Repeats"),
        help_text=_("How many times each question is asked under each condition."),
    )
    budget = number_fields.DecimalField(
        min_value=0,
        max_digits=12,
        decimal_places=4,
        required=False,
        label=_("Budget of the study"),
        help_text=_("All runs together pause before they exceed it. Empty: no limit."),
    )
    key = forms.UUIDField(widget=forms.HiddenInput, required=False)

    def wanted(self, conditions: Sequence[ConditionRow]) -> dict[str, Any]:
        """Return what a valid form asks for, under *conditions*. Raises BadInput."""
        said = self.cleaned_data
        return {
            **{name: said[name] for name in ("name", "dataset", "repeats", "budget")},
            "pairs": [
                (endpoint, row.for_endpoint(endpoint))
                for endpoint in said["endpoints"]
                for row in conditions
            ],
            "choice": self.choice(),
            "idempotency_key": str(said["key"]) if said["key"] else None,
        }


def initial_of(run: Run) -> dict[str, Any]:
    """Return the initial values of a new run like *run*, which is to be changed."""
    settings = run.run_settings
    choice = read_choice(settings.get("trial_of", settings.get("choice") or {}))
    given: dict[str, Any] = {one.name: getattr(choice, one.name) for one in fields(choice)}
    given["ids"] = ",".join(choice.ids)
    query = dict(parse_qsl(choice.query))
    given |= {f"bank_{name}": query.pop(name) for name in BANK_FILTERS if name in query}
    given["query"] = urlencode(query)
    if choice.years:
        given["years"] = "{}-{}".format(*choice.years)
    for name in ("tasks", "subjects"):
        given[name] = list(given[name])
    given |= {"endpoint": run.endpoint_id, "dataset": run.dataset.slug, "repeats": run.repeats}
    given |= {"budget": run.budget}
    if run.condition is not None and run.condition.settings:
        given |= asking_initial(read_condition(run.condition.settings))
    return given


def asking_initial(settings: ConditionSettings) -> dict[str, Any]:
    """Return the initial values of the fields that say how questions are asked."""
    names = ("setting", "prompt_set", "max_prompt_tokens", "images", "option_order")
    sampling = settings.sampling
    given = {name: getattr(settings, name) for name in names}
    for name in ("temperature", "top_p", "max_tokens", "seed", "reasoning_effort"):
        value = getattr(sampling, name)
        given[name] = "" if value is None else f"{value:g}" if name[0] == "t" else value
    given["stop"] = "\n".join(one.replace("\n", "\\n") for one in sampling.stop)
    given["extra"] = json.dumps(dict(sampling.extra)) if sampling.extra else ""
    return given
