"""Serializers of what starts runs and studies: an unknown field is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from evaluations.conditions import (
    LARGEST_SIDE,
    LEAST_SIDE,
    MOST_PROMPT_TOKENS,
    MOST_SIDE,
    Asking,
    ImagePolicy,
    OptionOrder,
    PromptSetting,
)
from evaluations.models import Endpoint
from evaluations.runs.rules.question_choice import STRATA, QuestionChoice, read_choice
from evaluations.runs.rules.sampling import REASONING_EFFORTS
from evaluations.runs.selectors.chosen_questions import MOST_TRIAL
from evaluations.runs.services.prompt_sets import OWN_SET
from evaluations.runs.services.runs import MOST_REPEATS
from evaluations.runs.services.sampling import sampling_for
from evaluations.runs.services.studies import MOST_RUNS
from gradeapp import api_fields
from questions.models import Dataset
from questions.rules.vocabulary import Part, Subject

MOST_STOPS = 20


class StrictSerializer(serializers.Serializer[Any]):
    """A serializer that refuses fields that it does not declare, also inside another one."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        given: dict[str, Any] = super().to_internal_value(data)
        try:
            refuse_unknown(set(data) - set(self.fields))
        except serializers.ValidationError as error:
            # The errors of a whole serializer are a dict.
            raise serializers.ValidationError({"non_field_errors": error.detail}) from None
        return given


class ChoiceSerializer(StrictSerializer):
    """A choice of the questions of a dataset; an unknown field is refused."""

    tasks = api_fields.ListField(child=serializers.CharField(), max_length=500, default=())
    subjects = api_fields.ListField(
        child=serializers.ChoiceField(Subject.choices()), max_length=50, default=()
    )
    part = serializers.ChoiceField(Part.choices(), allow_blank=True, default="")
    years = api_fields.ListField(
        child=api_fields.IntegerField(min_value=0, max_value=9999),
        min_length=2,
        max_length=2,
        allow_null=True,
        default=None,
        help_text="the first and the last year",
    )
    ids = api_fields.ListField(child=serializers.UUIDField(), max_length=5000, default=())
    query = serializers.CharField(
        max_length=1000, allow_blank=True, default="", help_text="filters of the bank, a=b&c=d"
    )
    limit = api_fields.IntegerField(min_value=1, allow_null=True, default=None)
    sample = api_fields.IntegerField(min_value=1, allow_null=True, default=None)
    random_seed = api_fields.IntegerField(min_value=0, max_value=2**53, default=0)
    stratified_by = serializers.ChoiceField(STRATA, allow_blank=True, default="")
    trial = api_fields.IntegerField(
        min_value=1,
        max_value=MOST_TRIAL,
        allow_null=True,
        default=None,
        help_text="only so many, drawn over all tasks and subjects by the random seed",
    )

    @staticmethod
    def of(given: Mapping[str, Any]) -> QuestionChoice:
        """Return the choice of valid data."""
        return read_choice({**given, "ids": [str(one) for one in given["ids"]]})


class SamplingSerializer(StrictSerializer):
    """How replies are sampled; a field that is left out has the default of ``run_model``.

    ``temperature`` may be ``half``: half of the endpoint's maximum.
    """

    temperature = api_fields.NumberTextField(max_length=10, required=False)
    top_p = api_fields.NumberTextField(max_length=10, required=False)
    max_tokens = api_fields.IntegerField(required=False)
    stop = api_fields.ListField(
        child=serializers.CharField(trim_whitespace=False), max_length=MOST_STOPS, required=False
    )
    seed = api_fields.IntegerField(required=False)
    reasoning_effort = serializers.ChoiceField(REASONING_EFFORTS, required=False)
    extra = serializers.DictField(required=False)


class AskingSerializer(StrictSerializer):
    """How the questions are asked: what a condition is made of, with an endpoint."""

    setting = serializers.ChoiceField(PromptSetting.choices(), default=PromptSetting.ZERO_SHOT)
    prompts = serializers.CharField(max_length=60, default=OWN_SET)
    max_prompt_tokens = api_fields.IntegerField(min_value=0, default=MOST_PROMPT_TOKENS)
    images = serializers.ChoiceField(ImagePolicy.choices(), default=ImagePolicy.OMIT)
    largest_side = api_fields.IntegerField(
        min_value=LEAST_SIDE, max_value=MOST_SIDE, default=LARGEST_SIDE
    )
    option_order = serializers.ChoiceField(OptionOrder.choices(), default=OptionOrder.PRINTED)
    option_seed = api_fields.IntegerField(min_value=0, max_value=2**53, default=0)
    sampling = SamplingSerializer(allow_null=True, default=None)

    @staticmethod
    def of(given: dict[str, Any], endpoint: Endpoint) -> Asking:
        """Take the fields of this serializer out of valid data; return how they ask *endpoint*.

        Raises BadInput for a sampling that the endpoint does not allow.
        """
        return Asking(
            sampling=sampling_for(endpoint, given.pop("sampling") or {}),
            setting=PromptSetting(given.pop("setting")),
            prompt_set=given.pop("prompts"),
            max_prompt_tokens=given.pop("max_prompt_tokens"),
            images=ImagePolicy(given.pop("images")),
            largest_side=given.pop("largest_side"),
            option_order=OptionOrder(given.pop("option_order")),
            random_seed=given.pop("option_seed"),
        )


class NewRunSerializer(AskingSerializer):
    """A run to be started."""

    endpoint = serializers.SlugRelatedField(slug_field="name", queryset=Endpoint.objects.all())
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.all())
    repeats = api_fields.IntegerField(min_value=1, max_value=MOST_REPEATS, default=1)
    choice = ChoiceSerializer(required=False)
    limit = api_fields.IntegerField(min_value=1, allow_null=True, default=None)
    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, allow_null=True, default=None)
    judge = serializers.SlugRelatedField(
        slug_field="name", queryset=Endpoint.objects.all(), allow_null=True, default=None
    )
    by_batch = serializers.BooleanField(
        default=False, help_text="by batch files, at half the price"
    )
    batch_api = serializers.BooleanField(
        default=False, help_text="by the endpoint's batch API, at half the price"
    )
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)
    start_anyway = serializers.BooleanField(
        default=False, help_text="also while a run that makes the same calls is not over"
    )

    def wanted(self) -> dict[str, Any]:
        """Return what a valid request asks ``start_run`` for."""
        given = dict(self.validated_data)
        given["unless_running"] = not given.pop("start_anyway")
        asking = self.of(given, given["endpoint"])
        limit, chosen = given.pop("limit"), given.pop("choice", None)
        choice = ChoiceSerializer.of(chosen) if chosen else QuestionChoice()
        if limit is not None:
            choice = replace(choice, limit=limit)
        return {**given, "asking": asking, "choice": choice}


class NewStudySerializer(StrictSerializer):
    """A study to be started: every endpoint under every condition."""

    name = serializers.CharField(max_length=120)
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.all())
    endpoints = api_fields.ListField(
        child=serializers.SlugRelatedField(slug_field="name", queryset=Endpoint.objects.all()),
        min_length=1,
        max_length=MOST_RUNS,
    )
    conditions = api_fields.ListField(child=AskingSerializer(), min_length=1, max_length=MOST_RUNS)
    choice = ChoiceSerializer(required=False)
    repeats = api_fields.IntegerField(min_value=1, max_value=MOST_REPEATS, default=1)
    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, allow_null=True, default=None)
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def wanted(self) -> dict[str, Any]:
        """Return what a valid request asks ``start_study`` for. Raises BadInput."""
        given = dict(self.validated_data)
        chosen, conditions = given.pop("choice", None), given.pop("conditions")
        pairs = [
            (endpoint, AskingSerializer.of({**one}, endpoint))
            for endpoint in given.pop("endpoints")
            for one in conditions
        ]
        choice = ChoiceSerializer.of(chosen) if chosen else QuestionChoice()
        return {**given, "pairs": pairs, "choice": choice}


class AnywaySerializer(StrictSerializer):
    """Whether what is over goes on beside another run that makes the same calls."""

    start_anyway = serializers.BooleanField(
        default=False, help_text="also while a run that makes the same calls is not over"
    )

    def wanted(self) -> dict[str, Any]:
        """Return what a valid request asks the service for."""
        given = dict(self.validated_data)
        given["unless_running"] = not given.pop("start_anyway")
        return given


class ResumeSerializer(AnywaySerializer):
    """A higher budget, where the run's or the study's was reached."""

    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, required=False)


def no_unknown(form: serializers.Serializer[Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """Refuse fields that the serializer does not declare: a typo must not start another run."""
    refuse_unknown(set(form.initial_data) - set(form.fields))
    return attrs


def refuse_unknown(names: set[str]) -> None:
    """Raise ValidationError if there are *names*."""
    if names:
        listed = ", ".join(sorted(names))
        raise serializers.ValidationError(_("There is no field called %(n)s.") % {"n": listed})
