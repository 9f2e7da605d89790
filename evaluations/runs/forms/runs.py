"""Forms of runs and endpoints, and the filters of runs and responses."""

from __future__ import annotations

import uuid
from typing import Any, Self

import django_filters
from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field

from evaluations.models import Endpoint, ProviderAccount, Response, Run
from evaluations.runs.forms import amounts
from evaluations.runs.forms.choices import ConditionNameFilter, ModelNameFilter
from evaluations.runs.services.endpoints import MOST_TOKENS, state_of
from evaluations.statistics.outcomes import LedgerOutcome
from gradeapp.common import number_fields
from questions.forms.filters import named_choices
from questions.models import Task
from questions.rules.vocabulary import Part
from questions.templatetags.names import task_name


class StartForm(forms.Form):
    """A form that starts a run; the page shows its fields by ``rows``."""

    rows: tuple[tuple[str, ...], ...] = (("endpoint",), ("limit", "budget"))

    endpoint = forms.ModelChoiceField(
        Endpoint.objects.select_related("language_model"), label=_("Endpoint"), empty_label=None
    )
    budget = amounts.money(
        _("Budget"), _("The run pauses before it exceeds the budget. Empty: no limit.")
    )
    # Stands beside the estimate, and comes with it.
    shown = number_fields.IntegerField(widget=forms.HiddenInput, required=False)
    key = forms.UUIDField(widget=forms.HiddenInput, required=False)

    @classmethod
    def of(cls, request: HttpRequest, **given: Any) -> Self:
        """Return the form with what was typed; a link without an endpoint gives initial values.

        What is *given* goes to the form.
        """
        sent = request.POST if request.method == "POST" else request.GET
        if request.method == "POST" or "endpoint" in sent:
            return cls(sent, **given)
        return cls(initial={"key": uuid.uuid4(), **sent.dict()}, **given)

    def in_rows(self) -> list[list[forms.BoundField]]:
        """Return the fields as the page shows them, side by side."""
        return [[self[name] for name in row] for row in self.rows]


class BudgetForm(forms.Form):
    """A higher budget for a run that reached its budget."""

    budget = amounts.money(_("New budget"))


class EndpointForm(forms.Form):
    """An endpoint. Neither its key nor the variable of the key is ever filled in again."""

    name = forms.CharField(max_length=60, label=_("Name"))
    base_url = forms.CharField(
        max_length=300,
        label=_("Address"),
        help_text=_("The part before /chat/completions, such as https://api.example.com/v1"),
        widget=forms.URLInput,
    )
    model = forms.CharField(
        max_length=120, label=_("Model"), help_text=_("As used by the endpoint.")
    )
    language_model = forms.CharField(
        max_length=100,
        required=False,
        label=_("Name in reports"),
        help_text=_("Empty: the name used by the endpoint."),
    )
    key_variable = forms.CharField(
        max_length=80,
        required=False,
        label=_("Environment variable of the API key"),
        help_text=_(
            "The name of the environment variable that holds the API key, such as "
            "DEEPSEEK_API_KEY. The settings say to which hosts it may be sent."
        ),
    )
    key = forms.CharField(
        max_length=400,
        required=False,
        label=_("API key"),
        help_text=_("Instead of a variable. It is stored encrypted and never shown again."),
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
    )
    no_key = forms.BooleanField(required=False, label=_("This endpoint needs no API key"))
    price_input = amounts.price(_("Price per million input tokens"), initial=0)
    price_output = amounts.price(_("Price per million output tokens"), initial=0)
    price_cached = amounts.price(
        _("Price per million cached input tokens"),
        _("Empty: the price of input tokens."),
        required=False,
    )
    currency = forms.RegexField(r"^[A-Z]{3}$", initial="CNY", label=_("Currency"))
    cost_in_replies = forms.BooleanField(
        required=False,
        label=_("Replies say what they cost"),
        help_text=_(
            "In this currency, as OpenRouter does in USD. Budgets then count that cost or the one "
            "by the prices above, whichever is larger."
        ),
    )
    account = forms.ModelChoiceField(
        ProviderAccount.objects.all(),
        required=False,
        label=_("Provider account"),
        empty_label=_("An account of its own"),
        help_text=_("Endpoints of one account share its limits."),
    )
    preset = forms.CharField(max_length=30, required=False, widget=forms.HiddenInput)
    seen = forms.CharField(max_length=16, required=False, widget=forms.HiddenInput)
    max_in_flight = amounts.whole(_("Concurrent calls"), most=1024, required=True, initial=8)
    timeout_seconds = amounts.whole(
        _("Timeout per call (seconds)"), most=600, required=True, initial=120
    )
    max_tokens = amounts.whole(
        _("Maximum tokens per reply"), most=MOST_TOKENS, required=True, initial=2048
    )
    max_temperature = amounts.temperature(
        _("Highest temperature"),
        _("The highest that the endpoint takes. Half of it is offered to runs. Empty: 2."),
        decimals=3,
        initial=2,
    )
    takes_images = forms.BooleanField(required=False, label=_("The model can see images"))
    max_completion_tokens = forms.BooleanField(
        required=False,
        label=_("Send max_completion_tokens instead of max_tokens"),
        help_text=_("For endpoints that refuse max_tokens, as OpenAI does for reasoning models."),
    )
    note = forms.CharField(max_length=200, required=False, label=_("Note"))
    password = forms.CharField(
        required=False,
        strip=False,
        label=_("Your password"),
        help_text=_("Only if the address of an endpoint with a key changes."),
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def facts(self, endpoint: Endpoint | None) -> dict[str, Any]:
        """Return the arguments of ``save_endpoint``; without a key the present one is kept."""
        facts = {**self.cleaned_data, "endpoint": endpoint}
        del facts["password"]
        if facts["max_temperature"] is None:
            del facts["max_temperature"]
        typed = facts["key_variable"] or facts["key"]
        if facts.pop("no_key"):
            facts["key_variable"] = facts["key"] = ""
        elif endpoint is not None and not typed:
            facts["key_variable"] = None
        return facts


def endpoint_initial(endpoint: Endpoint) -> dict[str, Any]:
    """Return the initial values of the form: all fields except the key and the password."""
    hidden = {"key_variable", "key", "no_key", "password", "language_model", "seen"}
    names = set(EndpointForm.base_fields) - hidden
    shown = {name: getattr(endpoint, name) for name in names}
    prices = {
        name: f"{shown[name].normalize():f}"
        for name in ("price_input", "price_output", "price_cached")
        if shown[name] is not None
    }
    shown["max_temperature"] = f"{endpoint.max_temperature:g}"
    named = {"language_model": endpoint.language_model.name, "seen": state_of(endpoint)}
    return {**shown, **prices, **named}


class RunFilter(django_filters.FilterSet):
    """The filters of the run list: dataset, model, condition, status."""

    dataset = django_filters.CharFilter(field_name="dataset__slug", label=_("Dataset"))
    model = django_filters.CharFilter(field_name="language_model__name", label=_("Model"))
    condition = django_filters.CharFilter(field_name="condition__name", label=_("Condition"))
    status = django_filters.ChoiceFilter(choices=Run.status.field.choices, label=_("Status"))
    purpose = django_filters.ChoiceFilter(choices=Run.purpose.field.choices, label=_("Purpose"))

    class Meta:
        model = Run
        fields: list[str] = []


class RunPageFilter(RunFilter):
    """The same filters on the page, where names are chosen from a list."""

    model = ModelNameFilter("language_model__name")
    condition = ConditionNameFilter("condition__name")


# Filters of a list of responses that leave out some by what is in them, or go on in it.
TELLS = frozenset({"q", "outcome", "repeat", "before"})


class ResponseFilter(django_filters.FilterSet):
    """The filters of a run's responses: words, task, part, outcome, repeat."""

    q = django_filters.CharFilter(field_name="text", lookup_expr="icontains", label=_("Keywords"))
    task = django_filters.CharFilter(field_name="question__task__slug", label=_("Task"))
    part = django_filters.ChoiceFilter(
        field_name="question__part",
        choices=lambda: named_choices(Part),
        label=_("Part"),
        empty_label=_("Both parts"),
    )
    # Not a column of the model, so the schema of the API needs its type.
    outcome = extend_schema_field(str)(
        django_filters.ChoiceFilter(
            field_name="outcome",
            choices=lambda: named_choices(LedgerOutcome),
            label=_("Outcome"),
            empty_label=_("All outcomes"),
        )
    )
    condition = django_filters.CharFilter(field_name="run__condition__name", label=_("Condition"))
    repeat = django_filters.NumberFilter(field_name="repeat", min_value=1, label=_("Repeat"))

    class Meta:
        model = Response
        fields: list[str] = []

    def __init__(self, *args: Any, run: Run | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if run is not None:
            slugs = Task.objects.filter(dataset=run.dataset).values_list("slug", flat=True)
            choices = [("", _("All tasks")), *((slug, task_name(slug)) for slug in slugs)]
            self.filters["task"].extra["widget"] = forms.Select(choices=choices)

    def scope(self) -> QuerySet[Response]:
        """Return what the filters choose from: of those that tell about a text, none narrows it."""
        data = {name: value for name, value in (self.data or {}).items() if name not in TELLS}
        rows: QuerySet[Response] = type(self)(data, queryset=self.queryset).qs
        return rows
