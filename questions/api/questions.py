"""GET questions, GET one question; the taxonomy of knowledge."""

from __future__ import annotations

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics

from gradeapp.common.parameters import DeclaredFilters
from questions.api.common import READ
from questions.api.label_serializers import KnowledgeSerializer
from questions.api.serializers import QuestionDetailSerializer, QuestionSerializer
from questions.forms.filters import QuestionFilter
from questions.models import Knowledge, Question
from questions.selectors.bank import question_list


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
