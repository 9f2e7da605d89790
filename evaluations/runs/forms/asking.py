"""Form fields that runs and studies share: how the questions are asked, and which."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from evaluations.conditions import (
    LARGEST_SIDE,
    LEAST_SIDE,
    MOST_PROMPT_TOKENS,
    MOST_SIDE,
    Asking,
    ImagePolicy,
    OptionOrder,
    PromptSetting,
    Sampling,
)
from evaluations.models import PromptSet
from evaluations.runs.forms import amounts
from evaluations.runs.rules.prompting.shipped_sets import SHIPPED
from evaluations.runs.rules.question_choice import QuestionChoice, read_years
from evaluations.runs.selectors.chosen_questions import MOST_TRIAL
from evaluations.runs.services.prompt_sets import OWN_SET
from gradeapp.accounts.models import User
from questions.forms.filters import QuestionFilter, named_choices, task_choices
from questions.models import SavedView
from questions.rules.vocabulary import Part, Subject
from questions.selectors.bank import views_of

# The filters of the bank that the form offers beside its own fields.
BANK_FILTERS = ("labels", "difficulty", "branch", "modal", "knowledge", "type")
OMIT = ImagePolicy.OMIT
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
        ("images", "largest_side"),
        ("option_order", "option_seed"),
    )

    setting = forms.ChoiceField(
        choices=lambda: named_choices(PromptSetting),
        required=False,
        label=_("Setting"),
        help_text=_("Chain of thought asks for the reasoning first, few-shot shows examples."),
    )
    prompt_set = forms.ChoiceField(choices=prompt_set_choices, required=False, label=_("Prompts"))
    max_prompt_tokens = amounts.whole(
        _("Tokens for examples"),
        _("Examples that pass this number are left out."),
        least=0,
        most=1_000_000,
        initial=MOST_PROMPT_TOKENS,
    )
    images = forms.ChoiceField(
        # The usual one first: a page whose address names none shows it.
        choices=lambda: sorted(named_choices(ImagePolicy), key=lambda one: one[0] != OMIT),
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
    largest_side = amounts.whole(
        _("Longer side of an image (pixels)"),
        _("Larger images are scaled down to it before they are sent."),
        least=LEAST_SIDE,
        most=MOST_SIDE,
        initial=LARGEST_SIDE,
    )
    option_seed = amounts.whole(
        _("Random seed of the order"),
        _("The same seed shuffles the options in the same way."),
        least=0,
        most=2**53,
        initial=0,
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
            largest_side=said["largest_side"] or LARGEST_SIDE,
            random_seed=said["option_seed"] or 0,
        )


class ChoiceFields(forms.Form):
    """Which questions of a dataset; every field that is set restricts them."""

    choice_rows: tuple[tuple[str, ...], ...] = (
        ("tasks", "subjects"),
        ("part", "years"),
        ("sample", "random_seed", "stratified_by"),
        ("limit", "trial_size"),
        ("bank_labels", "bank_difficulty"),
        ("bank_branch", "bank_modal"),
        ("bank_knowledge", "bank_type"),
        ("view", "query"),
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
    limit = amounts.whole(
        _("Maximum number of questions"), _("Spread evenly over the tasks. Empty: all questions.")
    )
    sample = amounts.whole(_("Random sample"), _("So many of the questions, drawn at random."))
    random_seed = amounts.whole(
        _("Random seed"),
        _("The same seed draws the same sample and the same trial."),
        least=0,
        most=2**53,
        initial=0,
    )
    trial_size = amounts.whole(
        _("Only a trial of"),
        _("So many questions, drawn over all tasks and subjects. Empty: all questions."),
        most=MOST_TRIAL,
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
        help_text=_("The address of a list of questions after the ?."),
    )
    view = forms.ModelChoiceField(
        SavedView.objects.none(),
        required=False,
        label=_("Saved view"),
        help_text=_("The filters of one of your saved views of the bank."),
        empty_label=_("No saved view"),
    )

    def __init__(self, *args: Any, user: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["tasks"].choices = task_choices()  # type: ignore[attr-defined]
        if user is not None:
            self.fields["view"].queryset = views_of(user)  # type: ignore[attr-defined]
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
        seen = dict(parse_qsl(said["view"].query)) if said["view"] else {}
        chosen = {name: said[f"bank_{name}"] for name in BANK_FILTERS if said[f"bank_{name}"]}
        return QuestionChoice(
            tasks=tuple(said["tasks"]),
            subjects=tuple(said["subjects"]),
            part=said["part"],
            years=said["years"],
            ids=tuple(filter(None, said["ids"].split(","))),
            query=urlencode({**seen, **typed, **chosen}),
            limit=said["limit"],
            sample=said["sample"],
            random_seed=said["random_seed"] or 0,
            stratified_by=said["stratified_by"],
            trial=said["trial_size"],
        )

    def choice_fields(self) -> list[list[forms.BoundField]]:
        """Return the fields as pages show them, side by side."""
        return [[self[name] for name in row] for row in self.choice_rows]
