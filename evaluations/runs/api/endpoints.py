"""API of endpoints: list, add, check. Keys are neither shown nor taken, only variables."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.models import Endpoint, ProviderAccount
from evaluations.runs.api.start_serializers import StrictSerializer
from evaluations.runs.selectors.accounts import get_endpoint
from evaluations.runs.services.endpoint_checks import check_endpoint
from evaluations.runs.services.endpoints import MOST_TOKENS, save_endpoint
from gradeapp import api_fields
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import refuse_unknown


class EndpointSerializer(serializers.ModelSerializer[Endpoint]):
    """An endpoint; of its key only whether there is one."""

    language_model = serializers.CharField(source="language_model.name")
    account = serializers.CharField(source="account.name", allow_null=True, default=None)
    has_key = serializers.BooleanField()

    class Meta:
        model = Endpoint
        fields = [
            *("id", "name", "base_url", "model", "language_model", "key_variable", "has_key"),
            *("account", "preset", "max_in_flight", "timeout_seconds", "max_tokens"),
            *("price_input", "price_output", "price_cached", "currency", "max_temperature"),
            *("cost_in_replies", "takes_images", "max_completion_tokens", "note"),
        ]


class NewEndpointSerializer(StrictSerializer):
    """An endpoint to be added."""

    name = serializers.CharField(max_length=60)
    base_url = serializers.CharField(max_length=300)
    model = serializers.CharField(max_length=120)
    language_model = serializers.CharField(max_length=100, allow_blank=True, default="")
    key_variable = serializers.CharField(max_length=80, allow_blank=True, default="")
    account = serializers.SlugRelatedField(
        slug_field="name", queryset=ProviderAccount.objects.all(), allow_null=True, default=None
    )
    price_input = api_fields.DecimalField(max_digits=12, decimal_places=6, min_value=0, default=0)
    price_output = api_fields.DecimalField(max_digits=12, decimal_places=6, min_value=0, default=0)
    price_cached = api_fields.DecimalField(
        max_digits=12, decimal_places=6, min_value=0, allow_null=True, default=None
    )
    currency = serializers.RegexField(r"^[A-Z]{3}$", default="CNY")
    max_in_flight = api_fields.IntegerField(min_value=1, max_value=1024, default=8)
    timeout_seconds = api_fields.IntegerField(min_value=1, max_value=600, default=120)
    max_tokens = api_fields.IntegerField(min_value=1, max_value=MOST_TOKENS, default=2048)
    cost_in_replies = serializers.BooleanField(default=False)
    takes_images = serializers.BooleanField(default=False)
    max_completion_tokens = serializers.BooleanField(default=False)
    note = serializers.CharField(max_length=200, allow_blank=True, default="")


class EndpointCheckSerializer(serializers.Serializer[Any]):
    """What the test of an endpoint found, as sentences."""

    works = serializers.BooleanField()
    sentence = serializers.CharField()
    findings = serializers.ListField(child=serializers.CharField())


class EndpointListAPI(generics.ListAPIView[Endpoint]):
    """Endpoints by name; POST adds one."""

    capability = Capability.OPERATE
    serializer_class = EndpointSerializer
    queryset = Endpoint.objects.select_related("language_model", "account").order_by("name")

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        """Return the endpoints."""
        refuse_unknown(request.query_params)
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewEndpointSerializer, responses={201: EndpointSerializer})
    def post(self, request: Request) -> Answer:
        """Add an endpoint. Its key is in an environment variable, or entered on its page."""
        form = NewEndpointSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        saved = save_endpoint(acting_user=request.user, **form.validated_data)
        return Answer(EndpointSerializer(saved).data, status=status.HTTP_201_CREATED)


class EndpointAPI(APIView):
    """One endpoint."""

    capability = Capability.OPERATE

    @extend_schema(responses=EndpointSerializer)
    def get(self, request: Request, pk: int) -> Answer:
        """Return the endpoint."""
        return Answer(EndpointSerializer(get_endpoint(pk)).data)


class EndpointCheckAPI(APIView):
    """Test an endpoint."""

    capability = Capability.OPERATE

    @extend_schema(request=None, responses=EndpointCheckSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Make three small calls, which may be billed, and say what works."""
        check = check_endpoint(get_endpoint(pk), acting_user=request.user)
        return Answer(EndpointCheckSerializer(check).data)


urlpatterns = [
    path("endpoints/", EndpointListAPI.as_view(), name="api-endpoints"),
    path("endpoints/<int:pk>/", EndpointAPI.as_view(), name="api-endpoint"),
    path("endpoints/<int:pk>/check/", EndpointCheckAPI.as_view(), name="api-endpoint-check"),
]
