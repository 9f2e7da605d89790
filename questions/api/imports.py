"""The API of imports: what was imported by whom, how far one is, and what it found."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp.refusals import NotFound
from questions.api.common import MAY, Declared, refuse_parameters
from questions.models import ImportBatch, ImportProblem
from questions.models.imports import ImportFile
from questions.selectors import imports as reading


class ImportSerializer(serializers.ModelSerializer[ImportBatch]):
    """An import as a list shows it; ``counts`` is what was written."""

    id = serializers.IntegerField(source="pk")
    dataset = serializers.CharField(source="dataset.slug", default=None)
    actor = serializers.CharField(source="actor.username", default=None)
    counts = serializers.DictField(child=serializers.IntegerField())
    problems = serializers.IntegerField(source="problem_count")

    class Meta:
        model = ImportBatch
        fields = [
            *("id", "kind", "source", "reader", "dataset", "status", "error", "counts"),
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


class ImportDetailSerializer(ImportSerializer):
    """An import with its files, and the seconds that are left where that is known."""

    seconds_left = serializers.SerializerMethodField()
    files = ImportFileSerializer(many=True)

    class Meta(ImportSerializer.Meta):
        fields = [*ImportSerializer.Meta.fields, "seconds_left", "files"]

    def get_seconds_left(self, batch: ImportBatch) -> float | None:
        """None when nothing runs, or nothing was read yet."""
        return reading.progress(batch, timezone.now()).seconds_left


def found(pk: int) -> ImportBatch:
    """The import *pk*; refuses where there is none."""
    batch = reading.imports().filter(pk=pk).first()
    if batch is None:
        raise NotFound(_("There is no such import."))
    return batch


class ImportListAPI(Declared, generics.ListAPIView[ImportBatch]):
    """Imports, the newest first."""

    capability = MAY
    serializer_class = ImportSerializer
    queryset = reading.imports()
    filter_backends: list[type] = []


class ImportAPI(APIView):
    """One import."""

    capability = MAY

    @extend_schema(responses=ImportDetailSerializer)
    def get(self, request: Request, pk: int) -> Answer:
        """Its state, its files and how far it is."""
        refuse_parameters(request)
        data: Any = ImportDetailSerializer(found(pk)).data
        return Answer(data)


class ImportProblemsAPI(Declared, generics.ListAPIView[ImportProblem]):
    """What an import found, each traced to file and row."""

    capability = MAY
    serializer_class = ImportProblemSerializer
    queryset = ImportProblem.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[ImportProblem]:
        return reading.import_problems(found(self.kwargs["pk"]))
