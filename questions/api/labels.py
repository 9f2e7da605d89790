"""The API of labels: history, set, opinions, agreement, and changes in bulk."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.common.parameters import DeclaredFilters, refuse_unknown
from gradeapp.common.refusals import BadInput, NotFound
from questions.api.common import MAY, get_question, validated_body
from questions.forms.filters import QuestionFilter
from questions.models import Knowledge, LabelBatch, LabelOpinion, LabelRevision
from questions.rules.four_tuple import Label
from questions.rules.vocabulary import AbilityBranch, Modal
from questions.selectors.bank import by_place
from questions.selectors.labels import bulk_change, bulk_changes, label_history
from questions.selectors.opinions import agreements
from questions.services import bulk_labels
from questions.services.labels import set_labels

KNOWLEDGE = {"source": "knowledge.slug", "default": None, "allow_null": True}


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

    author = serializers.CharField(source="author.username", default=None, allow_null=True)
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
    """Labels to set; a label that is not named stays, an empty one ("" or null) is taken away."""

    ability_branch = serializers.ChoiceField(
        choices=AbilityBranch.choices(), required=False, allow_blank=True
    )
    knowledge = serializers.CharField(required=False, allow_blank=True, max_length=80)
    difficulty = api_fields.IntegerField(min_value=1, max_value=5, required=False, allow_null=True)
    modal = serializers.ChoiceField(choices=Modal.choices(), required=False, allow_blank=True)

    def to_internal_value(self, data: Any) -> Any:
        """Read "" and null alike, whatever is the empty value of the label."""
        if isinstance(data, dict):
            empty = {"ability_branch": "", "knowledge": "", "difficulty": None, "modal": ""}
            taken = {name: one for name, one in empty.items() if data.get(name, 0) in ("", None)}
            data = {**data, **taken}
        return super().to_internal_value(data)


class SetLabelsSerializer(ChangeSerializer):
    """A change with its reason; ``seen`` is the id of the labels that were before your eyes."""

    reason = serializers.CharField(required=False, allow_blank=True, max_length=200)
    seen = api_fields.IntegerField(required=False, min_value=0)


class OpinionSerializer(serializers.ModelSerializer[LabelOpinion]):
    """What one curator or one model thinks the labels are."""

    author = serializers.CharField(source="author.username", default=None, allow_null=True)
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

    parent = serializers.CharField(source="parent.slug", default=None, allow_null=True)

    class Meta:
        model = Knowledge
        fields = ["slug", "english", "chinese", "ability_branch", "parent"]


class LabelsAPI(DeclaredFilters, generics.ListAPIView[LabelRevision]):
    """The history of a question's labels, newest first; POST sets some of them."""

    capability = MAY
    serializer_class = LabelRowSerializer
    queryset = LabelRevision.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[LabelRevision]:
        return label_history(get_question(self.kwargs["public_id"]))

    @extend_schema(
        request=SetLabelsSerializer,
        responses={200: LabelRowSerializer, 201: LabelRowSerializer, 204: None},
    )
    def post(self, request: Request, public_id: UUID) -> Answer:
        """Set the labels that are named.

        Where none would differ 200 with the labels as they are, or 204 if there never were any.
        """
        question = get_question(public_id)
        change = validated_body(SetLabelsSerializer, request)
        about = {key: change.pop(key) for key in ("reason", "seen") if key in change}
        if not change:
            raise BadInput(_("Choose at least one label to set."), code="empty_change")
        row = set_labels(question, change, acting_user=request.user, **about)
        code = status.HTTP_200_OK if row is None else status.HTTP_201_CREATED
        newest = row or label_history(question).first()
        if newest is None:
            return Answer(status=status.HTTP_204_NO_CONTENT)
        return Answer(LabelRowSerializer(newest).data, status=code)


class OpinionsAPI(DeclaredFilters, generics.ListAPIView[LabelOpinion]):
    """What curators and models said of a question, newest first."""

    capability = MAY
    serializer_class = OpinionSerializer
    queryset = LabelOpinion.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[LabelOpinion]:
        found = LabelOpinion.objects.filter(question=get_question(self.kwargs["public_id"]))
        return found.select_related("author", "knowledge").order_by("-pk")


class AgreementAPI(APIView):
    """Agreement of every two curators, by label."""

    capability = MAY

    @extend_schema(responses=AgreementSerializer(many=True))
    def get(self, request: Request) -> Answer:
        """Cohen's kappa and the share of equal labels over the items that both labelled."""
        refuse_unknown(request.query_params)
        pairs = agreements()
        keys = {key for pair in pairs for key in (pair.first, pair.second)}
        names = dict(User.objects.filter(pk__in=keys).values_list("pk", "username"))
        rows = [
            {
                "first": names[pair.first],
                "second": names[pair.second],
                "items": pair.items,
                "labels": [_agreement(label, pair.labels[label]) for label in Label],
            }
            for pair in pairs
        ]
        return Answer(AgreementSerializer(rows, many=True).data)


def _agreement(label: Label, found: Any) -> dict[str, object]:
    figures = ("n", "agreed", "raw", "kappa", "reason")
    return {"label": label.value, **{name: getattr(found, name) for name in figures}}


class BulkListAPI(DeclaredFilters, generics.ListAPIView[LabelBatch]):
    """Bulk changes, the newest first; POST does one."""

    capability = MAY
    serializer_class = BulkChangeSerializer
    queryset = bulk_changes()
    filter_backends: list[type] = []

    @extend_schema(request=BulkSerializer, responses={201: BulkChangeSerializer})
    def post(self, request: Request) -> Answer:
        """Set labels on every question that the filters choose."""
        form = validated_body(BulkSerializer, request)
        query, keys = filtered_questions(form["filters"])
        batch = bulk_labels.apply(
            keys,
            form["change"],
            acting_user=request.user,
            query=query,
            reason=form.get("reason", ""),
        )
        return bulk_response(batch)


class BulkPreviewAPI(APIView):
    """What a bulk change would do."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=BulkSerializer, responses=BulkPreviewSerializer)
    def post(self, request: Request) -> Answer:
        """Counts only; nothing is written."""
        form = validated_body(BulkSerializer, request)
        found = bulk_labels.preview(filtered_questions(form["filters"])[1], form["change"])
        labels = {one.label.value: one.changing for one in found.labels}
        about = {"questions": found.questions, "changing": found.changing, "labels": labels}
        return Answer(BulkPreviewSerializer(about).data)


class BulkUndoAPI(APIView):
    """Undo a bulk change."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=None, responses={201: BulkChangeSerializer})
    def post(self, request: Request, pk: int) -> Answer:
        """Every question has the labels from before again, unless they changed since."""
        batch = bulk_change(pk)
        if batch is None:
            raise NotFound(_("There is no such change."))
        return bulk_response(bulk_labels.undo(batch, acting_user=request.user))


def bulk_response(batch: LabelBatch) -> Answer:
    """A bulk change with its number of questions."""
    data = BulkChangeSerializer(bulk_change(batch.pk)).data
    return Answer(data, status=status.HTTP_201_CREATED)


def filtered_questions(filters: dict[str, str]) -> tuple[str, list[int]]:
    """The address of the filters and the keys of their questions; refuses what does not exist."""
    data = QueryDict(mutable=True)
    data.update(filters)
    refuse_unknown(data, QuestionFilter)
    found = QuestionFilter(data, queryset=by_place())
    if found.form.errors:
        names = ", ".join(sorted(found.form.errors))
        raise BadInput(_("There is no such filter or value: %(names)s.") % {"names": names})
    return data.urlencode(), list(found.qs.values_list("pk", flat=True))
