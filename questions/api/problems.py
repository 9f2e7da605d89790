"""The API of the gate: problems, and what a curator decides about them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp import api_fields
from gradeapp.common.parameters import DeclaredFilters, refuse_unknown
from gradeapp.common.refusals import BadInput, NotFound
from questions.api.common import MAY, get_question, validated_body
from questions.forms.problems import ProblemFilter
from questions.models import ItemDecision, ItemProblem, Question
from questions.rules.vocabulary import Decision
from questions.selectors.gate import problem_list, problem_whole, shown_problems
from questions.services.decisions import Repair, decide
from questions.services.reported import report_problem

# Options, or texts of a key, of one item
MOST_TEXTS = 500
# Spaces around a text are part of it, and one option of several may be empty.
AS_IT_IS: Any = {"trim_whitespace": False, "allow_blank": True}


class DecisionSerializer(serializers.ModelSerializer[ItemDecision]):
    """What a curator decided, and why; a repair names the revision that it made."""

    author = serializers.CharField(source="author.username")
    revision = serializers.IntegerField(source="repaired.number", default=None, allow_null=True)

    class Meta:
        model = ItemDecision
        fields = ["id", "decision", "reason", "author", "revision", "created_at"]


class ProblemSerializer(serializers.ModelSerializer[ItemProblem]):
    """What is wrong with an item; ``other`` is the other item of a duplicate or a conflict."""

    id = serializers.IntegerField(source="pk")
    question = serializers.UUIDField(source="question.public_id")
    dataset = serializers.CharField(source="question.task.dataset.slug")
    task = serializers.CharField(source="question.task.slug")
    external_id = serializers.CharField(source="question.external_id")
    revision = serializers.IntegerField(source="revision.number")
    other = serializers.UUIDField(source="other.question.public_id", default=None, allow_null=True)
    other_dataset = serializers.CharField(
        source="other.question.task.dataset.slug", default=None, allow_null=True
    )
    detail = serializers.JSONField()
    decisions = DecisionSerializer(many=True)

    class Meta:
        model = ItemProblem
        fields = [
            *("id", "code", "quarantines", "detail", "question", "dataset", "task"),
            *("external_id", "revision", "other", "other_dataset", "decisions", "created_at"),
        ]


class RepairSerializer(serializers.Serializer[Any]):
    """The item as it should be; what is not named, or comes back as it was, stays."""

    answer_key = api_fields.ListField(
        child=serializers.CharField(**AS_IT_IS), max_length=MOST_TEXTS, required=False
    )
    options = api_fields.ListField(
        child=serializers.CharField(**AS_IT_IS), max_length=MOST_TEXTS, required=False
    )
    passage = serializers.CharField(required=False, **AS_IT_IS)
    stem = serializers.CharField(required=False, trim_whitespace=False)
    reference_answer = serializers.CharField(required=False, **AS_IT_IS)
    analysis = serializers.CharField(required=False, **AS_IT_IS)


class DecideSerializer(serializers.Serializer[Any]):
    """keep, repair or exclude; ``seen`` is the number of the revision that you looked at.

    ``seen_decision`` is the id of the newest decision that you looked at, 0 where there was none.
    """

    decision = serializers.ChoiceField(choices=Decision.choices())
    reason = serializers.CharField(max_length=200)
    repair = RepairSerializer(required=False)
    seen = api_fields.IntegerField(required=False)
    seen_decision = api_fields.IntegerField(required=False, min_value=0)


class ProblemReportSerializer(serializers.Serializer[Any]):
    """What is wrong with a question; ``seen`` is the number of the revision that you looked at."""

    words = serializers.CharField(max_length=200)
    quarantines = serializers.BooleanField(default=True)
    seen = api_fields.IntegerField(required=False)


class ProblemListAPI(DeclaredFilters, generics.ListAPIView[ItemProblem]):
    """Problems by the filters of their page; without ``state`` those that wait."""

    capability = MAY
    serializer_class = ProblemSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = ProblemFilter
    queryset = shown_problems(problem_list()).prefetch_related(
        "decisions__author", "decisions__repaired"
    )


class DecideAPI(APIView):
    """Decide about a problem."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=DecideSerializer, responses={201: DecisionSerializer})
    def post(self, request: Request, pk: int) -> Answer:
        """Keep, repair or exclude; the item's status follows at once."""
        problem = problem_whole(pk)
        if problem is None:
            raise NotFound(_("There is no such problem."))
        form = validated_body(DecideSerializer, request)
        made = decide(
            problem,
            Decision(form["decision"]),
            form["reason"],
            acting_user=request.user,
            repair=repair_of(request, form.get("repair")),
            seen=revision_seen(problem.question, form.get("seen")),
            seen_decision=form.get("seen_decision"),
        )
        return Answer(DecisionSerializer(made).data, status=status.HTTP_201_CREATED)


class ProblemReportAPI(APIView):
    """Report a problem of a question."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=ProblemReportSerializer, responses={201: ProblemSerializer})
    def post(self, request: Request, public_id: UUID) -> Answer:
        """Keep what is wrong; the problem waits for a decision, and the item's status follows."""
        question = get_question(public_id)
        form = validated_body(ProblemReportSerializer, request)
        seen = revision_seen(question, form.pop("seen", None))
        problem = report_problem(question, **form, acting_user=request.user, seen=seen)
        return Answer(ProblemSerializer(problem).data, status=status.HTTP_201_CREATED)


def revision_seen(question: Question, number: int | None) -> int | None:
    """The key of the revision with this number; refuses one that the item does not have."""
    if number is None:
        return None
    revision = question.revisions.filter(number=number).first()
    if revision is None:
        raise BadInput(_("The question has no such revision."))
    return revision.pk


def repair_of(request: Request, repair: dict[str, Any] | None) -> Repair | None:
    """The repair of a request; a field that nobody declared is refused."""
    if repair is None:
        return None
    if not repair:
        raise BadInput(_("Enter the corrected question."), code="no_repair")
    refuse_unknown(request.data["repair"], RepairSerializer().fields)
    lists = {key: tuple(repair.pop(key)) for key in ("answer_key", "options") if key in repair}
    return Repair(**lists, **repair)
