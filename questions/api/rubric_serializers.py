"""What the API says of rubrics, and what it takes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from rest_framework import serializers

from gradeapp import api_fields
from questions.models import Rubric
from questions.rules.rubric import (
    LONGEST_GROUP_TEXT,
    LONGEST_POINT,
    MOST_POINTS,
    PointGroup,
    RubricLines,
    ScoringPoint,
)
from questions.selectors.rubrics import lines_of, source_name

MARKS = {"max_digits": 5, "decimal_places": 2, "min_value": Decimal("0.01")}


class RubricPointSerializer(serializers.Serializer[Any]):
    """One scoring point; ``group`` is the place of its group, from 1."""

    text = serializers.CharField(max_length=LONGEST_POINT)
    points = api_fields.DecimalField(**MARKS)
    sub = api_fields.IntegerField(min_value=1, max_value=1000, default=1)
    group = api_fields.IntegerField(min_value=1, allow_null=True, default=None)


class RubricGroupSerializer(serializers.Serializer[Any]):
    """Points under one cap: the best ``choose`` of them count (null: all)."""

    cap = api_fields.DecimalField(**MARKS)
    text = serializers.CharField(max_length=LONGEST_GROUP_TEXT, allow_blank=True, default="")
    sub = api_fields.IntegerField(min_value=1, max_value=1000, default=1)
    choose = api_fields.IntegerField(min_value=1, allow_null=True, default=None)


class LinesSerializer(serializers.Serializer[Any]):
    """A whole rubric: its points, and the groups that some of them are in."""

    points = RubricPointSerializer(many=True, allow_empty=False, max_length=MOST_POINTS)
    groups = RubricGroupSerializer(many=True, required=False, max_length=MOST_POINTS)


class RubricSerializer(serializers.ModelSerializer[Rubric]):
    """One version with its points; the newest accepted one counts."""

    id = serializers.IntegerField(source="pk")
    created_by = serializers.CharField(source="created_by.username", default=None, allow_null=True)
    accepted_by = serializers.CharField(
        source="accepted_by.username", default=None, allow_null=True
    )
    source = serializers.SerializerMethodField()

    class Meta:
        model = Rubric
        fields = [
            "id",
            "version",
            "accepted",
            "source",
            "created_by",
            "accepted_by",
            "created_at",
            "accepted_at",
        ]

    def get_source(self, rubric: Rubric) -> str:
        """Return ``import``, ``person``, ``file``, ``proposal`` or ``model:NAME``."""
        return source_name(rubric)

    def to_representation(self, rubric: Rubric) -> dict[str, Any]:
        """The version and its lines."""
        return {**super().to_representation(rubric), **LinesSerializer(lines_of(rubric)).data}


def rubric_lines(said: dict[str, Any]) -> RubricLines:
    """The rubric that a request describes."""
    points = tuple(ScoringPoint(**point) for point in said["points"])
    return RubricLines(points, tuple(PointGroup(**group) for group in said.get("groups", [])))
