"""The shapes of imports in the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from questions.forms.imports import NAME_LENGTH, SOURCES
from questions.models import ImportBatch, ImportProblem
from questions.models.imports import ImportFile
from questions.selectors import imports as reading


class UploadSerializer(serializers.Serializer[Any]):
    """Files or one .zip, and what they are; without a source that is found out."""

    files = serializers.ListField(
        child=serializers.FileField(max_length=NAME_LENGTH), allow_empty=False
    )
    source = serializers.ChoiceField(
        choices=[name for name, _label in SOURCES if name], allow_blank=True, default=""
    )


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
