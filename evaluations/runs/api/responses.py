"""API of one response: what was asked of the model, word for word, and what came back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from uuid import UUID

from django.urls import path
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.facts.looks import record_views
from evaluations.models import Attempt, Response
from evaluations.runs.api.found import FoundSerializer
from evaluations.runs.selectors.found_responses import found_response
from evaluations.runs.selectors.responses import earlier_steps, jobs_of
from evaluations.runs.services.calls import sent_calls
from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.refusals import NotFound


class CallSerializer(serializers.ModelSerializer[Attempt]):
    """One call: what was sent, made again from what is stored, and what it cost.

    ``messages`` are null if the call was not answered, or cannot be made again; ``proven`` says
    whether their hash is ``request_hash``. ``body`` is what came; where it could not be read, only
    people who may start runs get it.
    """

    step = serializers.IntegerField()
    cost = api_fields.DecimalField(max_digits=14, decimal_places=8)
    messages = serializers.JSONField(allow_null=True)
    proven = serializers.BooleanField(allow_null=True)

    class Meta:
        model = Attempt
        fields = (
            *("step", "number", "status", "error", "sent_at", "seconds", "prompt_tokens"),
            *("completion_tokens", "cost", "response_model", "request_id", "params"),
            *("request_hash", "messages", "proven", "body"),
        )


class WholeResponseSerializer(FoundSerializer):
    """A response with its run, model and condition, and with the calls behind it."""

    calls = serializers.SerializerMethodField()

    class Meta(FoundSerializer.Meta):
        fields = [*FoundSerializer.Meta.fields, "reasoning", "calls"]

    @extend_schema_field(CallSerializer(many=True))
    def get_calls(self, response: Response) -> Any:
        """Return the calls by step; empty for an imported response."""
        rows = list(_calls(response, whole=self.context["whole"]))
        return CallSerializer(rows, many=True).data


def _calls(response: Response, *, whole: bool) -> Iterator[Attempt]:
    """Yield the attempts at *response* with what the serializer reads beside their columns."""
    for job in jobs_of(response):
        sent = {attempt.pk: call for attempt, call in sent_calls(response.run, job, whole=whole)}
        for attempt in job.attempts.all():
            call = sent.get(attempt.pk)
            attempt.step = job.step  # type: ignore[attr-defined]
            attempt.messages = call.messages if call else None  # type: ignore[attr-defined]
            attempt.proven = call.proven if call else None  # type: ignore[attr-defined]
            attempt.body = attempt.body if attempt.pk in sent else ""
            yield attempt


class ResponseAPI(APIView):
    """One response with the exact messages that were sent for it."""

    capability = Capability.SEE_RUNS

    @extend_schema(responses=WholeResponseSerializer)
    def get(self, request: Request, public_id: UUID) -> Answer:
        """Return the response."""
        response = found_response(public_id)
        if response is None:
            raise NotFound(_("There is no such response."))
        user = cast(User, request.user)
        record_views([response.pk], acting_user=user, page="api")
        whole = user.may(Capability.START_RUNS)
        context = {"earlier_steps": earlier_steps([response]), "whole": whole}
        return Answer(WholeResponseSerializer(response, context=context).data)


urlpatterns = [path("responses/<uuid:public_id>/", ResponseAPI.as_view(), name="api-response")]
