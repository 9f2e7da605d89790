"""API of reports: the same JSON as the command ``report``."""

from __future__ import annotations

from typing import cast

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluations.reports.forms import keys_of, read_params
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.selectors.reports import EVERY_REPORT, build_report
from evaluations.reports.services.exports import note_look
from evaluations.statistics.cuts import CUT_KEYS
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability

KEYS = ", ".join(CUT_KEYS)


class FigureSerializer(serializers.Serializer[object]):
    """A value with its n, or no value and a reason."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class ReportRowSerializer(serializers.Serializer[object]):
    """One row: its key, and its figures by name."""

    key = serializers.DictField(child=serializers.CharField())
    figures = serializers.DictField(child=FigureSerializer())


class ReportSerializer(serializers.Serializer[object]):
    """A named table of figures with its parameters."""

    report = serializers.CharField()
    params = serializers.DictField()
    rows = ReportRowSerializer(many=True)


class ReportAPI(APIView):
    """One report of one dataset."""

    capability = Capability.SEE_REPORTS

    @extend_schema(
        responses=ReportSerializer,
        parameters=[
            OpenApiParameter("name", OpenApiTypes.STR, "path", enum=list(EVERY_REPORT)),
            OpenApiParameter(
                "dataset", description="slug, such as gaokao-bench; needed but with paper"
            ),
            OpenApiParameter(
                "paper", enum=list(Paper), description="the paper whose tables paper-tables has"
            ),
            OpenApiParameter("model", many=True, description="one or several; all if left out"),
            OpenApiParameter(
                "condition", many=True, description="names of conditions; all if left out"
            ),
            OpenApiParameter(
                "run", OpenApiTypes.INT, many=True, description="numbers of runs; all if left out"
            ),
            OpenApiParameter("marker", description="teachers or judge:NAME"),
            OpenApiParameter(
                "policy",
                enum=list(Policy),
                description="strict if left out (paper-tables: published)",
            ),
            OpenApiParameter(
                "by",
                description=f"of cuts: one or two of {KEYS}; of settings and gains: one of them",
            ),
            OpenApiParameter(
                "without_blind",
                enum=["yes"],
                description="leave out answers to questions whose images the model did not get",
            ),
            OpenApiParameter("year", OpenApiTypes.INT, description="only questions of this year"),
            OpenApiParameter(
                "round",
                OpenApiTypes.UUID,
                many=True,
                description="only the teachers' marks of these rounds; all real rounds if left out",
            ),
        ],
    )
    def get(self, request: Request, name: str) -> Response:
        params = read_params(request.query_params, others=keys_of(name))
        report = build_report(name, params)
        note_look(params, acting_user=cast(User, request.user))
        return Response(report.as_dict())


urlpatterns = [path("reports/<slug:name>/", ReportAPI.as_view(), name="api-report")]
