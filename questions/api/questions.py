"""GET questions, GET one question."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics

from gradeapp.accounts.roles import Capability
from gradeapp.refusals import BadInput
from questions.api.serializers import QuestionDetailSerializer, QuestionSerializer
from questions.forms.filters import QuestionFilter, unknown_parameters
from questions.models import Question
from questions.selectors.bank import question_list


class QuestionListAPI(generics.ListAPIView[Question]):
    """Questions, fifty a page, by the declared filters."""

    capability = Capability.SEE_QUESTIONS
    serializer_class = QuestionSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = QuestionFilter
    queryset = question_list()

    def filter_queryset(self, queryset: QuerySet[Question]) -> QuerySet[Question]:
        unknown = unknown_parameters(QuestionFilter, self.request.query_params)
        if unknown:
            names = ", ".join(sorted(unknown))
            raise BadInput(_("There is no filter called %(names)s.") % {"names": names})
        return super().filter_queryset(queryset)


class QuestionAPI(generics.RetrieveAPIView[Question]):
    """One question with its key, analysis and rubric."""

    capability = Capability.SEE_QUESTIONS
    serializer_class = QuestionDetailSerializer
    lookup_field = "public_id"
    queryset = question_list().prefetch_related("rubrics__points")
