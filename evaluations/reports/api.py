"""API of reports, the same JSON as the command ``report``, and of exports in the background."""

from __future__ import annotations

from functools import partial
from typing import cast

from django.db import transaction
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluations.models import Export
from evaluations.reports.forms import keys_of, read_params
from evaluations.reports.rules.published_tables import Paper
from evaluations.reports.selectors import exports as exports_reading
from evaluations.reports.selectors.export_tables import ROWS
from evaluations.reports.selectors.reports import EVERY_REPORT, build_report
from evaluations.reports.services import export_jobs
from evaluations.reports.services.exports import Asked, note_look
from evaluations.reports.tasks import ask_for_export
from evaluations.statistics.cuts import CUT_KEYS
from evaluations.statistics.policies import Policy
from gradeapp.accounts.confirmation import check_confirmed
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.background_work.services import note_if_lost
from gradeapp.common.long_files import place_for_a_file
from gradeapp.common.parameters import DeclaredFilters, refuse_unknown
from gradeapp.common.refusals import NotFound
from gradeapp.common.table_files import FileFormat
from questions.api.common import validated_body

KEYS = ", ".join(CUT_KEYS)
# What every report and every table of an export can be limited to.
CHOICES = [
    OpenApiParameter("model", many=True, description="one or several; all if left out"),
    OpenApiParameter("condition", many=True, description="names of conditions; all if left out"),
    OpenApiParameter(
        "run", OpenApiTypes.INT, many=True, description="numbers of runs; all if left out"
    ),
    OpenApiParameter(
        "marker",
        description="teachers or judge:NAME; of converted also estimate:teachers or"
        " estimate:judge:NAME, from samples",
    ),
    OpenApiParameter(
        "policy",
        enum=list(Policy),
        description="strict if left out (paper-tables: published)",
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
]


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
            OpenApiParameter(
                "by",
                description=f"of cuts: one or two of {KEYS}; of settings and gains: one of them",
            ),
            *CHOICES,
        ],
    )
    def get(self, request: Request, name: str) -> Response:
        params = read_params(request.query_params, others=keys_of(name))
        with place_for_a_file():
            report = build_report(name, params)
        note_look(params, acting_user=cast(User, request.user), report=name)
        return Response(report.as_dict())


class NewExportSerializer(serializers.Serializer[object]):
    """A table with a row for each response or mark, and the format of its file."""

    table = serializers.ChoiceField(choices=ROWS)
    file_format = serializers.ChoiceField(
        choices=[one.value for one in FileFormat], default=FileFormat.CSV.value
    )
    bom = serializers.BooleanField(default=True)


class ExportSerializer(serializers.ModelSerializer[Export]):
    """A file that is made in the background; ``file`` is its address once it is whole."""

    id = serializers.IntegerField(source="pk")
    table = serializers.CharField(source="name")
    dataset = serializers.CharField(source="dataset.slug")
    parameters = serializers.JSONField()
    seconds_left = serializers.SerializerMethodField()
    file = serializers.SerializerMethodField()

    class Meta:
        model = Export
        fields = [
            *("id", "table", "dataset", "parameters", "file_format", "bom", "status"),
            *("rows_done", "rows_total", "seconds_left", "size", "sha256", "file"),
            *("error", "refusal", "created_at", "expires_at"),
        ]

    def get_seconds_left(self, work: Export) -> float | None:
        """None when nothing is made, or nothing was written yet."""
        return exports_reading.progress(work, timezone.now()).seconds_left

    @extend_schema_field(OpenApiTypes.STR)
    def get_file(self, work: Export) -> str | None:
        """None before the file is whole and after it was deleted."""
        return reverse("reports:export-file", args=[work.pk]) if work.file else None


class ExportListAPI(DeclaredFilters, generics.ListAPIView[Export]):
    """Your own exports, the newest first; POST starts one."""

    capability = Capability.EXPORT
    serializer_class = ExportSerializer
    queryset = Export.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[Export]:
        return exports_reading.exports_of(cast(User, self.request.user))

    @extend_schema(
        request=NewExportSerializer,
        responses={201: ExportSerializer},
        parameters=[OpenApiParameter("dataset", required=True, description="slug"), *CHOICES],
    )
    def post(self, request: Request) -> Response:
        """In the background: one of yours at a time, kept for seven days."""
        form = validated_body(NewExportSerializer, request)
        params = read_params(cast(QueryDict, request.query_params))
        check_confirmed(request)
        asked = Asked(form["table"], params, form["file_format"], form["bom"])
        with transaction.atomic():
            work = export_jobs.start_export(asked, acting_user=cast(User, request.user))
            transaction.on_commit(partial(ask_for_export, work.pk))
        return Response(ExportSerializer(work).data, status=status.HTTP_201_CREATED)


class ExportAPI(APIView):
    """One of your exports."""

    capability = Capability.EXPORT

    @extend_schema(responses=ExportSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """How far it is; once it is whole, its address, its size and its SHA-256."""
        refuse_unknown(request.query_params)
        own = exports_reading.exports_of(cast(User, request.user))
        work = own.filter(pk=pk).first()
        if work is None:
            raise NotFound(_("There is no such export of yours."))
        note_if_lost(work, timezone.now())
        return Response(ExportSerializer(own.get(pk=pk)).data)


urlpatterns = [
    path("reports/<slug:name>/", ReportAPI.as_view(), name="api-report"),
    path("exports/", ExportListAPI.as_view(), name="api-exports"),
    path("exports/<int:pk>/", ExportAPI.as_view(), name="api-export"),
]
