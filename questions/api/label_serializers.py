"""What the API says of labels, opinions and bulk changes, and what it takes."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from questions.models import Knowledge, LabelBatch, LabelOpinion, LabelRevision
from questions.rules.vocabulary import AbilityBranch, Modal

KNOWLEDGE = {"source": "knowledge.slug", "default": None}


class LabelSerializer(serializers.ModelSerializer[LabelRevision]):
    """The four labels, and where each comes from."""

    id = serializers.IntegerField(source="pk")
    knowledge = serializers.CharField(**KNOWLEDGE)
    origins = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = LabelRevision
        fields = ["id", "ability_branch", "knowledge", "difficulty", "modal", "origins"]


class LabelRowSerializer(LabelSerializer):
    """A row of the history: the labels, who set them, when and why."""

    author = serializers.CharField(source="author.username", default=None)
    batch = serializers.IntegerField(source="batch_id", allow_null=True)

    class Meta(LabelSerializer.Meta):
        fields = [
            *LabelSerializer.Meta.fields,
            "author",
            "batch",
            "reason",
            "overtaken",
            "created_at",
        ]


class ChangeSerializer(serializers.Serializer[Any]):
    """Labels to set; a label that is not named stays, an empty one is taken away."""

    ability_branch = serializers.ChoiceField(
        choices=AbilityBranch.choices(), required=False, allow_blank=True
    )
    knowledge = serializers.CharField(required=False, allow_blank=True, max_length=80)
    difficulty = serializers.IntegerField(min_value=1, max_value=5, required=False, allow_null=True)
    modal = serializers.ChoiceField(choices=Modal.choices(), required=False, allow_blank=True)


class SetLabelsSerializer(ChangeSerializer):
    """A change with its reason; ``seen`` is the id of the labels that were before your eyes."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=200)
    seen = serializers.IntegerField(required=False, min_value=0)


class OpinionSerializer(serializers.ModelSerializer[LabelOpinion]):
    """What one curator or one model thinks the labels are."""

    author = serializers.CharField(source="author.username", default=None)
    knowledge = serializers.CharField(**KNOWLEDGE)

    class Meta:
        model = LabelOpinion
        fields = [
            "author",
            "model_name",
            "ability_branch",
            "knowledge",
            "difficulty",
            "modal",
            "seen_suggestion",
            "created_at",
        ]


class LabelAgreementSerializer(serializers.Serializer[Any]):
    """Agreement on one label: items, share of equal ones, Cohen's kappa or why it has no value."""

    label = serializers.CharField()
    n = serializers.IntegerField()
    agreed = serializers.IntegerField()
    raw = serializers.FloatField(allow_null=True)
    kappa = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)


class AgreementSerializer(serializers.Serializer[Any]):
    """Two curators and their agreement by label."""

    first = serializers.CharField()
    second = serializers.CharField()
    items = serializers.IntegerField()
    labels = LabelAgreementSerializer(many=True)


class BulkSerializer(serializers.Serializer[Any]):
    """A bulk change: the filters of the list as one object, and the labels to set."""

    filters = serializers.DictField(child=serializers.CharField(allow_blank=True))
    change = ChangeSerializer()
    reason = serializers.CharField(required=False, allow_blank=True, max_length=200)


class BulkPreviewSerializer(serializers.Serializer[Any]):
    """What a bulk change would do: questions in all, changing, and by label."""

    questions = serializers.IntegerField()
    changing = serializers.IntegerField()
    labels = serializers.DictField(child=serializers.IntegerField())


class BulkChangeSerializer(serializers.ModelSerializer[LabelBatch]):
    """A bulk change that was done; ``kept`` counts what its undoing left alone."""

    id = serializers.IntegerField(source="pk")
    author = serializers.CharField(source="author.username")
    questions = serializers.IntegerField(source="number", default=0)
    undoes = serializers.IntegerField(source="undoes_id", allow_null=True)

    class Meta:
        model = LabelBatch
        fields = ["id", "author", "change", "query", "reason", "questions", "undoes", "created_at"]


class KnowledgeSerializer(serializers.ModelSerializer[Knowledge]):
    """A category or a subclass of the taxonomy."""

    parent = serializers.CharField(source="parent.slug", default=None)

    class Meta:
        model = Knowledge
        fields = ["slug", "english", "chinese", "ability_branch", "parent"]
