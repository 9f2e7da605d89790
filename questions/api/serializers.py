"""What the API says of a question: explicit fields, nothing by default."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from questions.models import Question, QuestionRevision, ScoringPoint


class ScoringPointSerializer(serializers.ModelSerializer[ScoringPoint]):
    """One line of the rubric."""

    class Meta:
        model = ScoringPoint
        fields = ["order", "sub", "text", "points"]


class RevisionSerializer(serializers.ModelSerializer[QuestionRevision]):
    """The text, the key and the full marks of one revision."""

    class Meta:
        model = QuestionRevision
        fields = [
            "number",
            "content_hash",
            "question_type",
            "language",
            "stem",
            "letters",
            "answer_key",
            "reference_answer",
            "analysis",
            "sub_marks",
            "full_marks",
        ]


class QuestionSerializer(serializers.ModelSerializer[Question]):
    """A question as a list shows it."""

    id = serializers.UUIDField(source="public_id")
    dataset = serializers.CharField(source="task.dataset.slug")
    task = serializers.CharField(source="task.slug")
    type = serializers.CharField(source="current.question_type")
    full_marks = serializers.DecimalField(
        source="current.full_marks", max_digits=6, decimal_places=2
    )
    has_rubric = serializers.BooleanField()

    class Meta:
        model = Question
        fields = [
            "id",
            "dataset",
            "task",
            "external_id",
            "subject",
            "part",
            "type",
            "year",
            "paper",
            "status",
            "full_marks",
            "has_rubric",
        ]


class QuestionDetailSerializer(QuestionSerializer):
    """A question with its current revision and its accepted rubric."""

    revision = RevisionSerializer(source="current")
    rubric = serializers.SerializerMethodField()

    class Meta(QuestionSerializer.Meta):
        fields = [*QuestionSerializer.Meta.fields, "revision", "rubric"]

    @extend_schema_field(ScoringPointSerializer(many=True))
    def get_rubric(self, question: Question) -> list[dict[str, object]]:
        """The scoring points of the newest accepted version."""
        accepted = [rubric for rubric in question.rubrics.all() if rubric.accepted]
        if not accepted:
            return []
        newest = max(accepted, key=lambda rubric: rubric.version)
        return list(ScoringPointSerializer(newest.points.all(), many=True).data)
