"""The API of suggestions: starts a run in which a model suggests labels or rubric drafts."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.models import Endpoint
from evaluations.models.vocabulary import Asks
from evaluations.runs.api.run_serializers import RunSerializer
from evaluations.runs.api.runs import run_response
from evaluations.runs.api.start_serializers import no_unknown
from evaluations.runs.services.run_estimates import most_cost
from evaluations.runs.tasks import ask_for_work
from evaluations.suggesting.forms import USUAL_LIMIT, chosen, filters_in
from evaluations.suggesting.services.suggesting import (
    MOST_ITEMS,
    Wanted,
    estimate_suggesting,
    start_suggesting,
)
from gradeapp import api_fields
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import refuse_unknown
from questions.forms.filter_chips import query_of
from questions.forms.filters import QuestionFilter
from questions.models import Dataset


class NewSuggestionsSerializer(serializers.Serializer[Any]):
    """A run that suggests; ``filters`` are those of the list of questions, as one object."""

    endpoint = serializers.SlugRelatedField(slug_field="name", queryset=Endpoint.objects.all())
    asks = serializers.ChoiceField(choices=Asks.choices())
    dataset = serializers.SlugRelatedField(slug_field="slug", queryset=Dataset.objects.all())
    filters = serializers.DictField(
        child=serializers.CharField(allow_blank=True), default=dict, required=False
    )
    limit = api_fields.IntegerField(min_value=1, max_value=MOST_ITEMS, default=USUAL_LIMIT)
    again = serializers.BooleanField(default=False)
    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, allow_null=True, default=None)
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)


class SuggestAPI(APIView):
    """Start a run that suggests."""

    capability = {"POST": Capability.START_RUNS}

    @extend_schema(request=NewSuggestionsSerializer, responses={201: RunSerializer})
    def post(self, request: Request) -> Answer:
        """Plan it and hand it to the workers. The same ``idempotency_key``: the same run."""
        form = NewSuggestionsSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = dict(form.validated_data)
        budget, key = said.pop("budget"), said.pop("idempotency_key")
        refuse_unknown(said["filters"], QuestionFilter)
        filters = filters_in(said.pop("filters"))
        asks = Asks(said.pop("asks"))
        wanted = Wanted(asks=asks, questions=chosen(filters), query=query_of(filters), **said)
        check_cost(request, lambda: most_cost(estimate_suggesting(wanted), budget))
        with transaction.atomic():
            run = start_suggesting(
                wanted, acting_user=request.user, budget=budget, idempotency_key=key
            )
            transaction.on_commit(partial(ask_for_work, run.pk))
        return run_response(run, request.user, status.HTTP_201_CREATED)


urlpatterns = [path("runs/suggest/", SuggestAPI.as_view(), name="api-suggest")]
