"""Serializers of runs and responses, with explicit fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evaluations.conditions import MOST_PROMPT_TOKENS, Asking, ImagePolicy, PromptSetting
from evaluations.models import Endpoint, Response, Run, SuggestionReading
from evaluations.runs.rules.question_choice import STRATA, QuestionChoice, read_choice
from evaluations.runs.rules.sampling import REASONING_EFFORTS
from evaluations.runs.services.prompt_sets import OWN_SET
from evaluations.runs.services.runs import MOST_REPEATS
from evaluations.runs.services.sampling import sampling_for
from gradeapp import api_fields
from questions.models import Dataset
from questions.rules.vocabulary import Part, Subject


class MoneySerializer(serializers.Serializer[Any]):
    """The cost of calls, and the possible cost of calls without an answer."""

    spent = api_fields.DecimalField(max_digits=14, decimal_places=8)
    possible = api_fields.DecimalField(max_digits=14, decimal_places=8)
    possibly_billed = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    """Counts of calls, speeds in answers per second, seconds left; null if unknown."""

    planned = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    waiting = serializers.IntegerField()
    per_second_now = serializers.FloatField(allow_null=True)
    per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)
    money = MoneySerializer()


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run in a list."""

    id = serializers.IntegerField(source="pk")
    model = serializers.CharField(source="language_model.name")
    endpoint = serializers.CharField(source="endpoint.name", default=None, allow_null=True)
    dataset = serializers.CharField(source="dataset.slug")
    judge = serializers.CharField(source="judge.name", default=None, allow_null=True)
    judged_run = serializers.IntegerField(source="judged_run_id", allow_null=True)
    setting = serializers.CharField(source="condition.setting", default=None, allow_null=True)
    condition = serializers.CharField(source="condition.name", default=None, allow_null=True)
    choice = serializers.JSONField(source="run_settings.choice", default=None, allow_null=True)
    asks = serializers.CharField(source="run_settings.asks", default=None, allow_null=True)
    currency = serializers.CharField(source="run_settings.currency", default=None, allow_null=True)
    planned = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    responses = serializers.IntegerField(source="response_count")

    class Meta:
        model = Run
        fields = [
            "id",
            "purpose",
            "status",
            "pause_reason",
            "resume_at",
            "model",
            "endpoint",
            "dataset",
            "judge",
            "judged_run",
            "setting",
            "condition",
            "choice",
            "asks",
            "fingerprint",
            "repeats",
            "budget",
            "currency",
            "planned",
            "done",
            "failed",
            "responses",
            "created_at",
            "started_at",
            "finished_at",
        ]


class ChoiceSerializer(serializers.Serializer[Any]):
    """A choice of the questions of a dataset; an unknown field is refused."""

    tasks = serializers.ListField(child=serializers.CharField(), max_length=500, default=())
    subjects = serializers.ListField(
        child=serializers.ChoiceField(Subject.choices()), max_length=50, default=()
    )
    part = serializers.ChoiceField(Part.choices(), allow_blank=True, default="")
    years = serializers.ListField(
        child=api_fields.IntegerField(min_value=0, max_value=9999),
        min_length=2,
        max_length=2,
        allow_null=True,
        default=None,
        help_text="the first and the last year",
    )
    ids = serializers.ListField(child=serializers.UUIDField(), max_length=5000, default=())
    query = serializers.CharField(
        max_length=1000, allow_blank=True, default="", help_text="filters of the bank, a=b&c=d"
    )
    limit = api_fields.IntegerField(min_value=1, allow_null=True, default=None)
    sample = api_fields.IntegerField(min_value=1, allow_null=True, default=None)
    random_seed = api_fields.IntegerField(min_value=0, max_value=2**53, default=0)
    stratified_by = serializers.ChoiceField(STRATA, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)

    @staticmethod
    def of(given: Mapping[str, Any]) -> QuestionChoice:
        """Return the choice of valid data."""
        return read_choice({**given, "ids": [str(one) for one in given["ids"]]})


class SamplingSerializer(serializers.Serializer[Any]):
    """How replies are sampled; a field that is left out has the default of ``run_model``.

    ``temperature`` may be ``half``: half of the endpoint's maximum.
    """

    temperature = api_fields.NumberTextField(max_length=10, required=False)
    top_p = api_fields.NumberTextField(max_length=10, required=False)
    max_tokens = api_fields.IntegerField(required=False)
    stop = serializers.ListField(child=serializers.CharField(trim_whitespace=False), required=False)
    seed = api_fields.IntegerField(required=False)
    reasoning_effort = serializers.ChoiceField(REASONING_EFFORTS, required=False)
    extra = serializers.DictField(required=False)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        given: dict[str, Any] = super().to_internal_value(data)
        refuse_unknown(set(data) - set(self.fields))
        return given


class NewRunSerializer(serializers.Serializer[Any]):
    """A run to be started; an unknown field is refused."""

    endpoint = serializers.SlugRelatedField(slug_field="name", queryset=Endpoint.objects.all())
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.all())
    setting = serializers.ChoiceField(PromptSetting.choices(), default=PromptSetting.ZERO_SHOT)
    repeats = api_fields.IntegerField(min_value=1, max_value=MOST_REPEATS, default=1)
    prompts = serializers.CharField(max_length=60, default=OWN_SET)
    max_prompt_tokens = api_fields.IntegerField(min_value=0, default=MOST_PROMPT_TOKENS)
    images = serializers.ChoiceField(ImagePolicy.choices(), default=ImagePolicy.OMIT)
    choice = ChoiceSerializer(required=False)
    sampling = SamplingSerializer(allow_null=True, default=None)
    limit = api_fields.IntegerField(min_value=1, allow_null=True, default=None)
    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, allow_null=True, default=None)
    judge = serializers.SlugRelatedField(
        slug_field="name", queryset=Endpoint.objects.all(), allow_null=True, default=None
    )
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)

    def wanted(self) -> dict[str, Any]:
        """Return what a valid request asks ``start_run`` for."""
        given = dict(self.validated_data)
        sampling = sampling_for(given["endpoint"], given.pop("sampling") or {})
        asking = Asking(
            sampling=sampling,
            setting=PromptSetting(given.pop("setting")),
            prompt_set=given.pop("prompts"),
            max_prompt_tokens=given.pop("max_prompt_tokens"),
            images=ImagePolicy(given.pop("images")),
        )
        limit, chosen = given.pop("limit"), given.pop("choice", None)
        choice = ChoiceSerializer.of(chosen) if chosen else QuestionChoice()
        if limit is not None:
            choice = replace(choice, limit=limit)
        return {**given, "asking": asking, "choice": choice}


class ResumeSerializer(serializers.Serializer[Any]):
    """A higher budget, where the run's was reached."""

    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)


def no_unknown(form: serializers.Serializer[Any], attrs: dict[str, Any]) -> dict[str, Any]:
    """Refuse fields that the serializer does not declare: a typo must not start another run."""
    refuse_unknown(set(form.initial_data) - set(form.fields))
    return attrs


def refuse_unknown(names: set[str]) -> None:
    """Raise ValidationError if there are *names*."""
    if names:
        listed = ", ".join(sorted(names))
        raise serializers.ValidationError(_("There is no field called %(n)s.") % {"n": listed})


class SuggestionSerializer(serializers.Serializer[SuggestionReading]):
    """What was read in a reply with suggestions, or the reason why nothing was."""

    outcome = serializers.ChoiceField(choices=["read", "unreadable"])
    reason = serializers.CharField()
    said = serializers.JSONField()

    def to_representation(self, reading: SuggestionReading) -> dict[str, Any]:
        """Return the outcome with what was said, or with what the reason names."""
        if not reading.fault:
            return {"outcome": "read", "reason": "", "said": reading.said}
        named = [reading.fault_values] if reading.fault_values else []
        return {"outcome": "unreadable", "reason": reading.fault, "said": named}


class ResponseSerializer(serializers.ModelSerializer[Response]):
    """A response with its strict score and its newest judgement."""

    id = serializers.UUIDField(source="public_id")
    question = serializers.UUIDField(source="question.public_id")
    task = serializers.CharField(source="question.task.slug")
    external_id = serializers.CharField(source="question.external_id")
    part = serializers.CharField(source="question.part")
    revision = serializers.IntegerField(source="revision.number")
    full_marks = api_fields.DecimalField(
        source="revision.full_marks", max_digits=6, decimal_places=2
    )
    outcome = serializers.CharField(allow_null=True)
    points = api_fields.DecimalField(max_digits=6, decimal_places=2, allow_null=True)
    judge_status = serializers.CharField(allow_null=True)
    judge_total = api_fields.DecimalField(max_digits=7, decimal_places=3, allow_null=True)
    prompt_tokens = serializers.IntegerField(
        source="attempt.prompt_tokens", default=None, allow_null=True
    )
    completion_tokens = serializers.IntegerField(
        source="attempt.completion_tokens", default=None, allow_null=True
    )
    suggestions = serializers.SerializerMethodField()

    class Meta:
        model = Response
        fields = [
            "id",
            "question",
            "task",
            "external_id",
            "part",
            "revision",
            "repeat",
            "text",
            "finish_reason",
            "full_marks",
            "outcome",
            "points",
            "judge_status",
            "judge_total",
            "prompt_tokens",
            "completion_tokens",
            "suggestions",
            "created_at",
        ]

    @extend_schema_field(SuggestionSerializer(many=True))
    def get_suggestions(self, response: Response) -> list[dict[str, Any]]:
        """Return what was read in a reply that suggests; empty for an answer."""
        reading = getattr(response, "suggestion", None)
        return [] if reading is None else [SuggestionSerializer(reading).data]
