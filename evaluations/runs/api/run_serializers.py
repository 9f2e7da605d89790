"""Serializers of runs and responses, with explicit fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from evaluations.models import Batch, Response, Run, StepReply, SuggestionReading
from gradeapp import api_fields


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


class BatchSerializer(serializers.ModelSerializer[Batch]):
    """A batch of a run: what it holds, what became of it, and what the endpoint says of it."""

    id = serializers.IntegerField(source="pk")

    class Meta:
        model = Batch
        fields = (
            *("id", "state", "by_api", "requests", "size", "answered", "failed", "unanswered"),
            *("remote_id", "remote_state", "remote_answered", "error", "error_status", "next_at"),
            *("created_at", "ended_at"),
        )


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
    expected_cost = api_fields.DecimalField(max_digits=14, decimal_places=8, allow_null=True)
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
            "by_batch",
            "batch_api",
            "budget",
            "currency",
            "expected_cost",
            "planned",
            "done",
            "failed",
            "responses",
            "created_at",
            "started_at",
            "finished_at",
        ]


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


class EarlierStepSerializer(serializers.Serializer[StepReply]):
    """The reply to a step before the last, where an answer needed several calls."""

    step = serializers.IntegerField(source="job.step")
    text = serializers.CharField()
    finish_reason = serializers.CharField()
    prompt_tokens = serializers.IntegerField(source="attempt.prompt_tokens", allow_null=True)
    completion_tokens = serializers.IntegerField(
        source="attempt.completion_tokens", allow_null=True
    )


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
    earlier_steps = serializers.SerializerMethodField()

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
            "earlier_steps",
            "suggestions",
            "created_at",
        ]

    @extend_schema_field(EarlierStepSerializer(many=True))
    def get_earlier_steps(self, response: Response) -> Any:
        """Return the replies to the steps before; empty where one call was enough."""
        steps: Mapping[int, Sequence[StepReply]] = self.context.get("earlier_steps", {})
        return EarlierStepSerializer(steps.get(response.pk, ()), many=True).data

    @extend_schema_field(SuggestionSerializer(many=True))
    def get_suggestions(self, response: Response) -> list[dict[str, Any]]:
        """Return what was read in a reply that suggests; empty for an answer."""
        reading = getattr(response, "suggestion", None)
        return [] if reading is None else [SuggestionSerializer(reading).data]
