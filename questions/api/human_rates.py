"""The API of human rates: of a question, added and corrected."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp import api_fields
from gradeapp.common.parameters import DeclaredFilters
from gradeapp.common.refusals import NotFound
from questions.api.common import MAY, get_question, validated_body
from questions.models import HumanRate
from questions.selectors.labels import rates_of
from questions.services.human_rates import GivenRate, add_rate_once, correct_rate


class HumanRateSerializer(serializers.ModelSerializer[HumanRate]):
    """One rate, a share from 0 to 1; a corrected one no longer counts."""

    id = serializers.IntegerField(source="pk")
    author = serializers.CharField(source="author.username", default=None, allow_null=True)
    corrects = serializers.IntegerField(source="corrects_id", allow_null=True)
    counts = serializers.SerializerMethodField()

    class Meta:
        model = HumanRate
        fields = [
            *("id", "kind", "value", "sample_size", "weight", "source", "counts"),
            *("corrects", "author", "reason", "created_at"),
        ]

    def get_counts(self, rate: HumanRate) -> bool:
        """Whether no other rate corrects it."""
        return getattr(rate, "corrected_by", None) is None


class GivenRateSerializer(serializers.Serializer[Any]):
    """A rate as a person gives it."""

    value = api_fields.DecimalField(max_digits=5, decimal_places=4)
    source = serializers.CharField(max_length=200)
    sample_size = api_fields.IntegerField(required=False, allow_null=True, min_value=1)
    weight = api_fields.DecimalField(max_digits=10, decimal_places=2, default=Decimal(1))
    reason = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")


class NewRateSerializer(GivenRateSerializer):
    """One more rate; the same ``idempotency_key`` with the same rate: the same one."""

    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)


def rate_response(rate: HumanRate) -> Answer:
    """A new rate."""
    return Answer(HumanRateSerializer(rate).data, status=status.HTTP_201_CREATED)


def _by(request: Request, said: dict[str, Any]) -> dict[str, Any]:
    """Return who gives a rate, and the reason, which is taken out of *said*."""
    return {"acting_user": request.user, "reason": said.pop("reason")}


class HumanRatesAPI(DeclaredFilters, generics.ListAPIView[HumanRate]):
    """The human rates of a question, corrected ones too; POST adds one."""

    capability = MAY
    serializer_class = HumanRateSerializer
    queryset = HumanRate.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[HumanRate]:
        return rates_of(get_question(self.kwargs["public_id"]))

    @extend_schema(request=NewRateSerializer, responses={201: HumanRateSerializer})
    def post(self, request: Request, public_id: UUID) -> Answer:
        """One more rate; the derived level follows."""
        question = get_question(public_id)
        said = validated_body(NewRateSerializer, request)
        key, by = said.pop("idempotency_key") or "", _by(request, said)
        return rate_response(add_rate_once(key, question, GivenRate(**said), **by))


class HumanRateCorrectAPI(APIView):
    """Correct a rate."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=GivenRateSerializer, responses={201: HumanRateSerializer})
    def post(self, request: Request, pk: int) -> Answer:
        """A new rate in its place; the old one is kept and no longer counts."""
        rate = HumanRate.objects.filter(pk=pk).first()
        if rate is None:
            raise NotFound(_("There is no such human rate."))
        said = validated_body(GivenRateSerializer, request)
        by = _by(request, said)
        return rate_response(correct_rate(rate, GivenRate(**said), **by))
