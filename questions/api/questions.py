"""The API of questions, of the taxonomy, and of saved views."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from gradeapp.common.parameters import DeclaredFilters
from questions.api.common import READ, validated_body
from questions.api.labels import KnowledgeSerializer
from questions.api.serializers import QuestionDetailSerializer, QuestionSerializer
from questions.forms.filters import QuestionFilter
from questions.models import Knowledge, Question, SavedView
from questions.selectors.bank import question_list, views_of
from questions.services.saved_views import delete_view, save_view


def listed() -> QuerySet[Question]:
    """The questions that have a text, with what their rows say."""
    return question_list().filter(current__isnull=False).select_related("label__knowledge")


class QuestionListAPI(DeclaredFilters, generics.ListAPIView[Question]):
    """Questions, fifty a page, by the filters of the list."""

    capability = READ
    serializer_class = QuestionSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = QuestionFilter
    queryset = listed()


class QuestionAPI(generics.RetrieveAPIView[Question]):
    """One question with its key, analysis, labels and rubric."""

    capability = READ
    serializer_class = QuestionDetailSerializer
    lookup_field = "public_id"
    queryset = listed().prefetch_related(
        "rubric__points", "rubric__groups", "rubric__created_by", "rubric__accepted_by"
    )


class KnowledgeAPI(DeclaredFilters, generics.ListAPIView[Knowledge]):
    """The taxonomy: categories with their ability branch, and subclasses with their category."""

    capability = READ
    serializer_class = KnowledgeSerializer
    queryset = Knowledge.objects.select_related("parent").order_by("pk")
    pagination_class = None
    filter_backends: list[type] = []


class SavedViewSerializer(serializers.ModelSerializer[SavedView]):
    """A name for a set of filters."""

    id = serializers.IntegerField(source="pk", read_only=True)

    class Meta:
        model = SavedView
        fields = ["id", "name", "query", "created_at"]
        read_only_fields = ["created_at"]


class NewViewSerializer(serializers.Serializer[Any]):
    """A view to be saved: ``query`` is what stands in the list's address after ``?``."""

    name = serializers.CharField()
    query = serializers.CharField(allow_blank=True)


class SavedViewListAPI(DeclaredFilters, generics.ListAPIView[SavedView]):
    """One's own saved views; POST saves one, the same name again changes it."""

    capability = READ
    serializer_class = SavedViewSerializer
    queryset = SavedView.objects.none()  # for the schema
    filter_backends: list[type] = []

    def get_queryset(self) -> QuerySet[SavedView]:
        return views_of(self.request.user)

    @extend_schema(request=NewViewSerializer, responses={201: SavedViewSerializer})
    def post(self, request: Request) -> Answer:
        """Keep the filters under a name."""
        view = save_view(**validated_body(NewViewSerializer, request), acting_user=request.user)
        return Answer(SavedViewSerializer(view).data, status=status.HTTP_201_CREATED)


class SavedViewAPI(APIView):
    """One of one's own views."""

    capability = {"DELETE": READ}

    @extend_schema(request=None, responses={204: None})
    def delete(self, request: Request, pk: int) -> Answer:
        """Take the view away; the questions are not touched."""
        delete_view(pk, acting_user=request.user)
        return Answer(status=status.HTTP_204_NO_CONTENT)
