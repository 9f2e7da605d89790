"""The API of rubrics: versions, a new draft, accepting one."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp.common.parameters import DeclaredFilters
from gradeapp.common.refusals import NotFound
from questions.api.common import MAY, get_question, validated_body
from questions.api.rubric_serializers import LinesSerializer, RubricSerializer, rubric_lines
from questions.models import Rubric
from questions.services.rubrics import accept_rubric, draft_rubric


class RubricsAPI(DeclaredFilters, generics.ListAPIView[Rubric]):
    """Every version of a question's rubric, newest first; POST adds a draft."""

    capability = MAY
    serializer_class = RubricSerializer
    queryset = Rubric.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[Rubric]:
        rubrics = get_question(self.kwargs["public_id"]).rubrics.order_by("-version")
        people = rubrics.select_related("created_by", "accepted_by")
        return people.prefetch_related("points", "groups")

    @extend_schema(request=LinesSerializer, responses={201: RubricSerializer})
    def post(self, request: Request, public_id: UUID) -> Answer:
        """The next version, a draft: it counts only once a person accepts it."""
        question = get_question(public_id)
        lines = rubric_lines(validated_body(LinesSerializer, request))
        made = draft_rubric(question, lines, acting_user=request.user)
        return Answer(RubricSerializer(made).data, status=status.HTTP_201_CREATED)


class RubricAcceptAPI(APIView):
    """Accept a draft."""

    capability = {"POST": MAY["POST"]}

    @extend_schema(request=None, responses=RubricSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """From now on it counts; marks that were given by an earlier version keep it."""
        rubric = Rubric.objects.filter(pk=pk).first()
        if rubric is None:
            raise NotFound(_("There is no such rubric."))
        made = accept_rubric(rubric, acting_user=request.user, now=timezone.now())
        return Answer(RubricSerializer(made).data)
