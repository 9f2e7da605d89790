"""API of runs: list, start, read, stop, resume, responses."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.db import transaction
from django.db.models import QuerySet
from django.urls import path
from django.utils import timezone
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.facts.looks import record_figures, record_scope
from evaluations.models import Batch, Response, Run
from evaluations.runs.api.run_serializers import (
    BatchSerializer,
    ProgressSerializer,
    ResponseSerializer,
    RunSerializer,
)
from evaluations.runs.api.start_serializers import (
    AnywaySerializer,
    NewRunSerializer,
    ResumeSerializer,
)
from evaluations.runs.forms.runs import ResponseFilter, RunFilter
from evaluations.runs.selectors.responses import earlier_steps, responses_of
from evaluations.runs.selectors.runs import get_run, progress, runs
from evaluations.runs.services import runs as services
from evaluations.runs.services.run_estimates import (
    most_cost_of_resume,
    most_cost_of_retry,
    most_cost_of_run,
)
from evaluations.runs.tasks import ask_for_work
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import DeclaredFilters

MAY = {
    "GET": Capability.SEE_RUNS,
    "HEAD": Capability.SEE_RUNS,
    "POST": Capability.START_RUNS,
}


def run_response(run: Run, user: User, code: int = status.HTTP_200_OK) -> Answer:
    """Return the response for a run with its progress, which *user* has then seen."""
    run = get_run(run.pk)
    record_figures(run, acting_user=user, page="run")
    data = RunSerializer(run).data | {
        "progress": ProgressSerializer(progress(run, timezone.now())).data
    }
    return Answer(data, status=code)


class RunListAPI(DeclaredFilters, generics.ListAPIView[Run]):
    """Runs, the newest first; POST starts one."""

    capability = MAY
    serializer_class = RunSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = RunFilter
    queryset = runs()

    @extend_schema(request=NewRunSerializer, responses={201: RunSerializer})
    def post(self, request: Request) -> Answer:
        """Plan a run and hand it to the workers. The same ``idempotency_key``: the same run.

        With another request the key is refused (422). While a run that makes the same calls is not
        over, another one is refused (409), unless ``start_anyway`` says so.
        """
        form = NewRunSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = form.wanted()
        check_cost(request, lambda: most_cost_of_run(wanted))
        with transaction.atomic():
            run = services.start_run(**wanted, acting_user=request.user)
            transaction.on_commit(partial(ask_for_work, run.pk))
        return run_response(run, request.user, status.HTTP_201_CREATED)


class RunAPI(APIView):
    """One run with its progress."""

    capability = MAY

    @extend_schema(responses=RunSerializer)
    def get(self, request: Request, pk: int) -> Answer:
        """Return the run."""
        return run_response(get_run(pk), request.user)


class RunStopAPI(APIView):
    """Stop a run."""

    capability = MAY

    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Make no further calls; answers of calls in flight are still stored."""
        run = services.stop_run(get_run(pk), acting_user=request.user)
        return run_response(run, request.user)


class RunPauseAPI(APIView):
    """Pause a run."""

    capability = MAY

    @extend_schema(request=None, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Make no further calls until it is resumed; answers of calls in flight are stored."""
        run = services.pause_run(get_run(pk), acting_user=request.user)
        return run_response(run, request.user)


class RunResumeAPI(APIView):
    """Resume a run."""

    capability = MAY

    @extend_schema(request=ResumeSerializer, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Resume a stopped or paused run, with a higher budget if it was reached.

        A stopped one is refused (409) while another run that makes the same calls is not over,
        unless ``start_anyway`` says so.
        """
        form = ResumeSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = form.wanted()
        run = get_run(pk)
        check_cost(request, lambda: most_cost_of_resume(run, said.get("budget")))
        run = services.resume_run(run, acting_user=request.user, **said)
        transaction.on_commit(partial(ask_for_work, run.pk))
        return run_response(run, request.user)


class RunRetryAPI(APIView):
    """Try the failed calls of a run again."""

    capability = MAY

    @extend_schema(request=AnywaySerializer, responses=RunSerializer)
    def post(self, request: Request, pk: int) -> Answer:
        """Retry the failed calls, with all their attempts.

        A finished run is refused (409) while another one that makes the same calls is not over,
        unless ``start_anyway`` says so.
        """
        form = AnywaySerializer(data=request.data)
        form.is_valid(raise_exception=True)
        run = get_run(pk)
        check_cost(request, lambda: most_cost_of_retry(run))
        services.retry_failed(run, acting_user=request.user, **form.wanted())
        transaction.on_commit(partial(ask_for_work, run.pk))
        return run_response(run, request.user)


class BatchListAPI(DeclaredFilters, generics.ListAPIView[Batch]):
    """The batches of a run, the oldest first."""

    capability = Capability.SEE_RUNS
    serializer_class = BatchSerializer
    queryset = Batch.objects.none()  # for the schema; the rows are those of the run

    def get_queryset(self) -> QuerySet[Batch]:
        return get_run(self.kwargs["pk"]).batches.order_by("pk")


class ResponseListAPI(DeclaredFilters, generics.ListAPIView[Response]):
    """The responses of a run, fifty a page, by the declared filters."""

    capability = Capability.SEE_RUNS
    serializer_class = ResponseSerializer
    filter_backends = [DjangoFilterBackend]
    filterset_class = ResponseFilter
    queryset = Response.objects.none()  # for the schema; the rows are those of the run

    def get_queryset(self) -> QuerySet[Response]:
        return responses_of(get_run(self.kwargs["pk"]))

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of *queryset*; who asks for one, found or not, has looked at the run."""
        asked = ResponseFilter(self.request.query_params, queryset=self.get_queryset())
        record_scope(asked.scope(), acting_user=cast(User, self.request.user), page="api")
        return super().paginate_queryset(queryset)

    def get_serializer(self, *args: Any, **kwargs: Any) -> Any:
        """Give the serializer the earlier steps of all responses of the page at once."""
        page = args[0] if args else ()
        kwargs.setdefault("context", self.get_serializer_context())
        kwargs["context"]["earlier_steps"] = earlier_steps(page)
        return ResponseSerializer(*args, **kwargs)


urlpatterns = [
    path("runs/", RunListAPI.as_view(), name="api-runs"),
    path("runs/<int:pk>/", RunAPI.as_view(), name="api-run"),
    path("runs/<int:pk>/stop/", RunStopAPI.as_view(), name="api-run-stop"),
    path("runs/<int:pk>/pause/", RunPauseAPI.as_view(), name="api-run-pause"),
    path("runs/<int:pk>/resume/", RunResumeAPI.as_view(), name="api-run-resume"),
    path("runs/<int:pk>/retry/", RunRetryAPI.as_view(), name="api-run-retry"),
    path("runs/<int:pk>/batches/", BatchListAPI.as_view(), name="api-run-batches"),
    path("runs/<int:pk>/responses/", ResponseListAPI.as_view(), name="api-run-responses"),
]
