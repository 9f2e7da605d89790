"""API of conditions: how models were asked."""

from __future__ import annotations

from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema_field
from rest_framework import generics, serializers

from evaluations.models import Condition
from evaluations.runs.forms.conditions import ConditionQuery
from evaluations.runs.selectors.conditions import conditions, reply_names
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import DeclaredFilters


class ConditionSerializer(serializers.ModelSerializer[Condition]):
    """A condition with its frozen settings, its counts, and the models that replies named."""

    id = serializers.UUIDField(source="public_id")
    model = serializers.CharField(source="language_model.name")
    prompts = serializers.CharField(default=None, allow_null=True)
    runs = serializers.IntegerField(source="run_count")
    responses = serializers.IntegerField(source="response_count")
    reply_models = serializers.SerializerMethodField()

    class Meta:
        model = Condition
        fields = [
            *("id", "name", "model", "origin", "setting", "prompts", "settings", "fingerprint"),
            *("runs", "responses", "reply_models", "created_at"),
        ]

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_reply_models(self, condition: Condition) -> dict[str, int]:
        """Return by name how many replies named this model."""
        return dict(reply_names([condition]).get(condition.pk, {}))


class ConditionListAPI(DeclaredFilters, generics.ListAPIView[Condition]):
    """Conditions by model and name, 50 per page."""

    capability = Capability.SEE_RUNS
    serializer_class = ConditionSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = ConditionQuery
    queryset = conditions()


urlpatterns = [path("conditions/", ConditionListAPI.as_view(), name="api-conditions")]
