"""API of studies: list, start, watch, resume, stop."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.db import transaction
from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.facts.looks import record_figures
from evaluations.models import Run, Study
from evaluations.runs.api.run_serializers import ProgressSerializer
from evaluations.runs.api.runs import MAY
from evaluations.runs.api.start_serializers import NewStudySerializer, ResumeSerializer
from evaluations.runs.selectors.runs import Progress
from evaluations.runs.selectors.studies import get_study, studies, study_progress
from evaluations.runs.services import studies as services
from evaluations.runs.services.run_estimates import most_cost_of_study, most_cost_of_study_resume
from evaluations.runs.tasks import ask_for_work
from gradeapp import api_fields
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.models import User
from gradeapp.common.parameters import DeclaredFilters


class StudySerializer(serializers.ModelSerializer[Study]):
    """A study in a list; ``committed`` is what its calls cost, or may cost while they are open."""

    id = serializers.IntegerField(source="pk")
    dataset = serializers.CharField(source="dataset.slug")
    runs = serializers.IntegerField(source="n")
    committed = api_fields.DecimalField(max_digits=20, decimal_places=8, source="spent_or_reserved")

    class Meta:
        model = Study
        fields = [
            *("id", "name", "dataset", "choice", "runs", "budget", "committed", "currency"),
            "created_at",
        ]


class StudyRunSerializer(serializers.ModelSerializer[Run]):
    """One run of a study: an endpoint under a condition."""

    id = serializers.IntegerField(source="pk")
    endpoint = serializers.CharField(source="endpoint.name")
    model = serializers.CharField(source="language_model.name")
    condition = serializers.CharField(source="condition.name")
    progress = ProgressSerializer(source="far")

    class Meta:
        model = Run
        fields = [
            *("id", "endpoint", "model", "condition", "repeats", "status", "pause_reason"),
            "progress",
        ]


class StudyProgressSerializer(serializers.Serializer[Any]):
    """How far a study is: counts of calls, seconds left; null if unknown."""

    planned = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    live = serializers.BooleanField()
    seconds_left = serializers.FloatField(allow_null=True)
    budget_reached = serializers.BooleanField()
    runs = StudyRunSerializer(many=True)


class WholeStudySerializer(StudySerializer):
    """A study with its progress and that of its runs."""

    progress = StudyProgressSerializer()

    class Meta(StudySerializer.Meta):
        fields = [*StudySerializer.Meta.fields, "progress"]


def study_response(pk: int, user: User, code: int = status.HTTP_200_OK) -> Answer:
    """Return the response for the study *pk* with its progress, which *user* has then seen."""
    study = get_study(pk)
    far = study_progress(study, timezone.now())
    for run, _progress in far.rows:
        record_figures(run, acting_user=user, page="study")
    runs = [StudyRunSerializer(_with_progress(run, one)).data for run, one in far.rows]
    names = ("planned", "done", "failed", "live", "seconds_left", "budget_reached")
    progress = {name: getattr(far, name) for name in names}
    return Answer(
        StudySerializer(study).data | {"progress": {**progress, "runs": runs}}, status=code
    )


def _with_progress(run: Run, far: Progress) -> Run:
    run.far = far  # type: ignore[attr-defined]
    return run


class StudyListAPI(DeclaredFilters, generics.ListAPIView[Study]):
    """Studies, the newest first; POST starts one."""

    capability = MAY
    serializer_class = StudySerializer
    queryset = studies()

    @extend_schema(request=NewStudySerializer, responses={201: WholeStudySerializer})
    def post(self, request: Request) -> Answer:
        """Start a run of every endpoint under every condition, over the same questions."""
        form = NewStudySerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.wanted()
        check_cost(request, lambda: most_cost_of_study(wanted))
        with transaction.atomic():
            study = services.start_study(**wanted, acting_user=request.user)
            for run in study.runs.order_by("pk"):
                transaction.on_commit(partial(ask_for_work, run.pk))
        return study_response(study.pk, request.user, status.HTTP_201_CREATED)


class StudyAPI(APIView):
    """One study with its progress."""

    capability = MAY

    @extend_schema(responses=WholeStudySerializer)
    def get(self, request: Request, pk: int) -> Answer:
        """Return the study."""
        return study_response(pk, request.user)


class StudyStopAPI(APIView):
    """Stop all runs of a study."""

    capability = MAY

    @extend_schema(request=None, responses=WholeStudySerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Make no further calls; answers of calls in flight are still stored."""
        services.stop_study(get_study(pk), acting_user=request.user)
        return study_response(pk, request.user)


class StudyResumeAPI(APIView):
    """Resume the runs of a study."""

    capability = MAY

    @extend_schema(request=ResumeSerializer, responses=WholeStudySerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Resume what is stopped or paused, with a higher budget if it was reached.

        It is refused (409) while another run that makes the same calls as a stopped one is not
        over, unless ``start_anyway`` says so.
        """
        form = ResumeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        study, said = get_study(pk), form.wanted()
        check_cost(request, lambda: most_cost_of_study_resume(study, said.get("budget")))
        resumed = services.resume_study(study, acting_user=request.user, **said)
        for run in resumed:
            transaction.on_commit(partial(ask_for_work, run.pk))
        return study_response(pk, request.user)


urlpatterns = [
    path("studies/", StudyListAPI.as_view(), name="api-studies"),
    path("studies/<int:pk>/", StudyAPI.as_view(), name="api-study"),
    path("studies/<int:pk>/stop/", StudyStopAPI.as_view(), name="api-study-stop"),
    path("studies/<int:pk>/resume/", StudyResumeAPI.as_view(), name="api-study-resume"),
]
