"""What the API says of a question: explicit fields, nothing by default."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from gradeapp import api_fields
from questions.api.labels import LabelSerializer
from questions.api.rubric_serializers import RubricSerializer
from questions.models import Question, QuestionRevision


class RevisionSerializer(serializers.ModelSerializer[QuestionRevision]):
    """The text, the key and the full marks of one revision."""

    author = serializers.CharField(source="author.username", default=None, allow_null=True)

    class Meta:
        model = QuestionRevision
        fields = [
            "number",
            "content_hash",
            "question_type",
            "language",
            "passage",
            "stem",
            "options",
            "letters",
            "answer_key",
            "published_key",
            "reference_answer",
            "analysis",
            "sub_marks",
            "full_marks",
            "images",
            "author",
            "reason",
            "created_at",
        ]


class QuestionSerializer(serializers.ModelSerializer[Question]):
    """A question as a list shows it."""

    id = serializers.UUIDField(source="public_id")
    dataset = serializers.CharField(source="task.dataset.slug")
    task = serializers.CharField(source="task.slug")
    type = serializers.CharField(source="current.question_type")
    language = serializers.CharField(source="current.language")
    full_marks = api_fields.DecimalField(
        source="current.full_marks", max_digits=6, decimal_places=2
    )
    has_rubric = serializers.SerializerMethodField()
    labels = LabelSerializer(source="label", allow_null=True)

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
            "language",
            "year",
            "paper",
            "status",
            "full_marks",
            "has_rubric",
            "labels",
        ]

    def get_has_rubric(self, question: Question) -> bool:
        """Return whether an accepted rubric counts."""
        return question.rubric_id is not None


class QuestionDetailSerializer(QuestionSerializer):
    """A question with its current revision and its accepted rubric."""

    revision = RevisionSerializer(source="current")
    rubric = serializers.SerializerMethodField()

    class Meta(QuestionSerializer.Meta):
        fields = [*QuestionSerializer.Meta.fields, "revision", "rubric"]

    @extend_schema_field(RubricSerializer(allow_null=True))
    def get_rubric(self, question: Question) -> dict[str, object] | None:
        """The version that counts; None where there is none."""
        return dict(RubricSerializer(question.rubric).data) if question.rubric else None
