"""The API of imports: upload, check, import; who imported what, and the problems found."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp.body_limit import takes_uploads
from gradeapp.common.background_work.services import note_if_lost
from gradeapp.common.parameters import DeclaredFilters, refuse_unknown
from gradeapp.common.refusals import Conflict, NotFound
from questions.api.common import MAY, WRITE, validated_body
from questions.forms.imports import NAME_LENGTH, SOURCES
from questions.models import ImportBatch, ImportProblem
from questions.models.imports import ImportFile
from questions.selectors import imports as reading
from questions.services import import_jobs
from questions.services.uploads import take_upload
from questions.tasks import ask_for_import


class UploadSerializer(serializers.Serializer[Any]):
    """Files or one .zip, and what they are; without a source that is found out."""

    files = serializers.ListField(
        child=serializers.FileField(max_length=NAME_LENGTH), allow_empty=False
    )
    source = serializers.ChoiceField(
        choices=[name for name, _label in SOURCES if name], allow_blank=True, default=""
    )


class ConfirmSerializer(serializers.Serializer[Any]):
    """``allow_shifted`` is needed where questions would get the texts of others (``shifted``)."""

    allow_shifted = serializers.BooleanField(default=False)


class ImportSerializer(serializers.ModelSerializer[ImportBatch]):
    """An import as a list shows it; ``counts`` is what was written."""

    id = serializers.IntegerField(source="pk")
    dataset = serializers.CharField(source="dataset.slug", default=None, allow_null=True)
    actor = serializers.CharField(source="actor.username", default=None, allow_null=True)
    counts = serializers.DictField(child=serializers.IntegerField())
    problems = serializers.IntegerField(source="problem_count")

    class Meta:
        model = ImportBatch
        fields = [
            *("id", "kind", "source", "reader", "dataset", "status", "error", "refusal", "counts"),
            *("problems", "files_done", "files_total", "actor"),
            *("created_at", "confirmed_at", "started_at", "ended_at"),
        ]


class ImportFileSerializer(serializers.ModelSerializer[ImportFile]):
    """What one file holds, checked or imported."""

    class Meta:
        model = ImportFile
        fields = ["name", "new", "same", "changed", "quarantined", "refused", "imported_at"]


class ImportProblemSerializer(serializers.ModelSerializer[ImportProblem]):
    """One problem with its file and row; a fatal one refuses the file."""

    class Meta:
        model = ImportProblem
        fields = ["file", "row", "code", "text", "fatal"]


class ImportTotalsSerializer(serializers.Serializer[Any]):
    """The sums over the files: items, and files that are refused."""

    files = serializers.IntegerField()
    new = serializers.IntegerField()
    same = serializers.IntegerField()
    changed = serializers.IntegerField()
    quarantined = serializers.IntegerField()
    refused = serializers.IntegerField()


class ImportDetailSerializer(ImportSerializer):
    """An import with its files, and the seconds that are left where that is known."""

    seconds_left = serializers.SerializerMethodField()
    totals = serializers.SerializerMethodField()
    files = ImportFileSerializer(many=True)

    class Meta(ImportSerializer.Meta):
        fields = [*ImportSerializer.Meta.fields, "seconds_left", "totals", "files"]

    def get_seconds_left(self, batch: ImportBatch) -> float | None:
        """None when nothing runs, or nothing was read yet."""
        return reading.progress(batch, timezone.now()).seconds_left

    @extend_schema_field(ImportTotalsSerializer)
    def get_totals(self, batch: ImportBatch) -> dict[str, int]:
        """What a check found that an import would do, or what the import did."""
        return asdict(reading.totals(batch))


def get_import(pk: int) -> ImportBatch:
    """The import *pk*; refuses where there is none."""
    batch = reading.imports().filter(pk=pk).first()
    if batch is None:
        raise NotFound(_("There is no such import."))
    return batch


def import_response(pk: int, code: int = status.HTTP_200_OK) -> Answer:
    """The import *pk* as it is now."""
    return Answer(ImportDetailSerializer(get_import(pk)).data, status=code)


@method_decorator(takes_uploads(WRITE), name="dispatch")
class ImportListAPI(DeclaredFilters, generics.ListAPIView[ImportBatch]):
    """Imports, the newest first; POST uploads files or one .zip."""

    capability = MAY
    serializer_class = ImportSerializer
    queryset = reading.imports()
    filter_backends: list[type] = []
    parser_classes = [MultiPartParser]

    @extend_schema(
        request={"multipart/form-data": UploadSerializer}, responses={201: ImportDetailSerializer}
    )
    def post(self, request: Request) -> Answer:
        """Keep the files and check them in the background; nothing is imported before a confirm."""
        form = validated_body(UploadSerializer, request)
        with transaction.atomic():
            batch = take_upload(form["files"], form["source"], acting_user=request.user)
            transaction.on_commit(partial(ask_for_import, batch.pk))
        return import_response(batch.pk, status.HTTP_201_CREATED)


class ImportAPI(APIView):
    """One import."""

    capability = MAY

    @extend_schema(responses=ImportDetailSerializer)
    def get(self, request: Request, pk: int) -> Answer:
        """Its state, its files and how far it is; once it is checked, what it would write."""
        refuse_unknown(request.query_params)
        note_if_lost(get_import(pk), timezone.now())
        return import_response(pk)


class ImportProblemsAPI(DeclaredFilters, generics.ListAPIView[ImportProblem]):
    """What an import found, each traced to file and row."""

    capability = MAY
    serializer_class = ImportProblemSerializer
    queryset = ImportProblem.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[ImportProblem]:
        return reading.import_problems(get_import(self.kwargs["pk"]))


class ImportConfirmAPI(APIView):
    """Import what was checked."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=ConfirmSerializer, responses=ImportDetailSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """In the background, one transaction a file; 409 where it is checked again before."""
        said = validated_body(ConfirmSerializer, request)
        taken = import_jobs.confirm_import(get_import(pk), acting_user=request.user, **said)
        ask_for_import(pk)
        if not taken:
            raise Conflict(import_jobs.CHECKED_AGAIN, code=reading.OUTDATED)
        return import_response(pk)


class ImportStopAPI(APIView):
    """Stop a check or an import."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=None, responses=ImportDetailSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """It ends within the file that is being read, which stays as it was; no file is halved."""
        import_jobs.stop_import(get_import(pk), acting_user=request.user)
        return import_response(pk)


class ImportResumeAPI(APIView):
    """Let a stopped, interrupted or failed check or import go on."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=None, responses=ImportDetailSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """What was written already stays as it is."""
        import_jobs.resume_import(get_import(pk), acting_user=request.user)
        ask_for_import(pk)
        return import_response(pk)


class ImportDiscardAPI(APIView):
    """Delete the uploaded files."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=None, responses=ImportDetailSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """What was imported of them stays in the bank."""
        import_jobs.discard_import(get_import(pk), acting_user=request.user)
        return import_response(pk)
