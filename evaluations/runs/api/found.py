"""API of the search over the responses of all runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics, serializers
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.utils.urls import remove_query_param, replace_query_param

from evaluations.facts.looks import record_scope
from evaluations.models import Response
from evaluations.runs.api.run_serializers import ResponseSerializer
from evaluations.runs.forms.found import SearchFilter
from evaluations.runs.selectors.found_responses import Found, search, searchable
from evaluations.runs.selectors.responses import earlier_steps
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import DeclaredFilters


class FoundSerializer(ResponseSerializer):
    """A response with its run, model and condition."""

    run = serializers.IntegerField(source="run_id")
    model = serializers.CharField(source="run.language_model.name")
    condition = serializers.CharField(source="run.condition.name", default=None, allow_null=True)
    dataset = serializers.CharField(source="question.task.dataset.slug")

    class Meta(ResponseSerializer.Meta):
        fields = ["run", "model", "condition", "dataset", *ResponseSerializer.Meta.fields]


class SearchPagination(BasePagination):
    """Pages of a search, newest first; ``next`` goes on with earlier responses."""

    found: Found
    request: Request

    def paginate_queryset(
        self, queryset: Any, request: Request, view: Any = None
    ) -> Sequence[Response]:
        """Return the next page; a page without a hit may have a ``next``."""
        before = request.query_params.get("before", "")
        self.request = request
        asked = SearchFilter(request.query_params, queryset=searchable())
        record_scope(asked.scope(), acting_user=cast(User, request.user), page="api")
        self.found = search(
            queryset,
            request.query_params.get("q", ""),
            before=int(before) if before.isdecimal() else None,
        )
        return self.found.rows

    def get_paginated_response(self, data: Any) -> Answer:
        """Return the page with the address of the next one, null after the last."""
        address = remove_query_param(self.request.build_absolute_uri(), "before")
        before = self.found.before
        following = None if before is None else replace_query_param(address, "before", before)
        return Answer({"next": following, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema of a page."""
        following = {"type": "string", "format": "uri", "nullable": True}
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": following, "results": schema},
        }


class SearchAPI(DeclaredFilters, generics.ListAPIView[Response]):
    """Responses of all runs by their words and by filter, the newest first, 50 a page."""

    capability = Capability.SEE_RUNS
    serializer_class = FoundSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = SearchFilter
    pagination_class = SearchPagination  # type: ignore[assignment]
    queryset = searchable()

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        """Give the serializer the earlier steps of all responses of the page at once."""
        page = args[0] if args else ()
        kwargs.setdefault("context", self.get_serializer_context())
        kwargs["context"]["earlier_steps"] = earlier_steps(page)
        return FoundSerializer(*args, **kwargs)


urlpatterns = [path("responses/", SearchAPI.as_view(), name="api-responses")]
