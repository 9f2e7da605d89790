"""API of judgements: the newest of each judge on each response."""

from __future__ import annotations

from typing import Any, cast

from django.urls import path
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework import generics, serializers

from evaluations.facts.looks import record_scope
from evaluations.judging.forms import JudgementQuery
from evaluations.judging.selectors import judgement_list
from evaluations.models import Judgement
from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.parameters import DeclaredFilters


class JudgementSerializer(serializers.ModelSerializer[Judgement]):
    """A judge's reply with the total read in it, and the teachers' final mark."""

    response = serializers.UUIDField(source="response.public_id")
    judge = serializers.CharField(source="judge.name")
    model = serializers.CharField(source="response.run.language_model.name")
    condition = serializers.CharField(source="response.run.condition.name")
    dataset = serializers.CharField(source="response.run.dataset.slug")
    task = serializers.CharField(source="response.question.task.slug")
    question = serializers.UUIDField(source="response.question.public_id")
    subject = serializers.CharField(source="response.question.subject")
    repeat = serializers.IntegerField(source="response.repeat")
    teachers = api_fields.DecimalField(
        source="final", max_digits=8, decimal_places=4, allow_null=True
    )

    class Meta:
        model = Judgement
        fields = [
            "response",
            "judge",
            "model",
            "condition",
            "dataset",
            "task",
            "question",
            "subject",
            "repeat",
            "number",
            "status",
            "total",
            "full",
            "flags",
            "released",
            "teachers",
            "reply",
            "created_at",
        ]


class JudgementListAPI(DeclaredFilters, generics.ListAPIView[Judgement]):
    """Judgements by filter, 50 per page."""

    capability = Capability.SEE_JUDGEMENTS
    serializer_class = JudgementSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = JudgementQuery
    queryset = judgement_list()

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of *queryset*; who asks for one, found or not, has looked at the runs."""
        user = cast(User, self.request.user)
        asked = JudgementQuery(self.request.query_params, queryset=self.get_queryset())
        record_scope(asked.scope(), acting_user=user, page="api")
        page = super().paginate_queryset(queryset)
        count_items(user, "mark", [judgement.response_id for judgement in page or ()])
        return page


urlpatterns = [path("judgements/", JudgementListAPI.as_view(), name="api-judgements")]
