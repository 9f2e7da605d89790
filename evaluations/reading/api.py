"""The API of reading: who read the answers, a model that reads, checks of people, corrections."""

from __future__ import annotations

from functools import partial
from typing import Any, cast

from django.db import transaction
from django.urls import path
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.models import AnswerCheck, CheckSample, Endpoint, Response, Run
from evaluations.models.vocabulary import CheckSource
from evaluations.reading.forms.answer_checks import name_of, reading_named
from evaluations.reading.rules.extraction.reading import Statement
from evaluations.reading.selectors.answer_check_queue import (
    QueueChoice,
    own_check,
    source_of,
    waiting,
)
from evaluations.reading.selectors.answer_checks import looked_at, reading_to_check
from evaluations.reading.selectors.reading_labour import READERS, Labour, labour, read_runs, samples
from evaluations.reading.services.answer_cases import take_checked_corrections
from evaluations.reading.services.answer_checks import MOST_DRAWN, draw_sample, save_check
from evaluations.reading.services.model_reading import (
    MOST_ANSWERS,
    WantedReading,
    estimate_reading,
    start_reading,
)
from evaluations.runs.api.run_serializers import RunSerializer
from evaluations.runs.api.runs import run_response
from evaluations.runs.api.start_serializers import no_unknown
from evaluations.runs.rules.option_order import asked_as_shown
from evaluations.runs.selectors.runs import get_run
from evaluations.runs.services.run_estimates import most_cost
from evaluations.runs.tasks import ask_for_work
from evaluations.statistics.outcomes import ReadingOutcome
from gradeapp import api_fields
from gradeapp.accounts.confirmation import check_cost
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import DeclaredFilters, refuse_unknown
from gradeapp.common.refusals import NotFound

READ = {"GET": Capability.CHECK_ANSWERS, "HEAD": Capability.CHECK_ANSWERS}
BOTH = {**READ, "POST": Capability.CHECK_ANSWERS}


class NewReadingSerializer(serializers.Serializer[Any]):
    """A model that is to read the unread answers of a run."""

    endpoint = serializers.SlugRelatedField(slug_field="name", queryset=Endpoint.objects.all())
    limit = api_fields.IntegerField(min_value=1, max_value=MOST_ANSWERS, default=MOST_ANSWERS)
    budget = api_fields.DecimalField(max_digits=12, decimal_places=4, allow_null=True, default=None)
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)


class RunReadAPI(APIView):
    """Let a model read the answers of a run that no pattern reads."""

    capability = {"POST": Capability.START_RUNS}

    @extend_schema(request=NewReadingSerializer, responses={201: RunSerializer})
    def post(self, request: Request, pk: int) -> Answer:
        """Plan it and hand it to the workers. The same ``idempotency_key``: the same run."""
        form = NewReadingSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = dict(form.validated_data)
        wanted = WantedReading(get_run(pk), said["endpoint"], said["limit"])
        check_cost(request, lambda: most_cost(estimate_reading(wanted), said["budget"]))
        with transaction.atomic():
            run = start_reading(
                wanted,
                acting_user=request.user,
                budget=said["budget"],
                idempotency_key=said["idempotency_key"],
            )
            transaction.on_commit(partial(ask_for_work, run.pk))
        return run_response(run, request.user, status.HTTP_201_CREATED)


class LabourSerializer(serializers.Serializer[Any]):
    """Of how many answers of a run each reader gave the reading that counts."""

    run = serializers.IntegerField(source="run.pk")
    model = serializers.CharField(source="run.language_model.name")
    dataset = serializers.CharField(source="run.dataset.slug")
    total = serializers.IntegerField()
    readers = serializers.SerializerMethodField()
    checked = serializers.IntegerField()
    corrected = serializers.IntegerField()

    def get_readers(self, row: Labour) -> dict[str, dict[str, float | None]]:
        """Count and share (0 to 1) of pattern, mined, model, person and unread."""
        return {name: {"n": row.by[name], "share": row.share(name)} for name in READERS}


class LabourListAPI(DeclaredFilters, generics.ListAPIView[Run]):
    """Who read the answers, run by run, the newest first."""

    capability = READ
    serializer_class = LabourSerializer
    queryset = Run.objects.none()  # for the schema

    def get_queryset(self) -> Any:
        return read_runs()

    def paginate_queryset(self, queryset: Any) -> Any:
        return labour(super().paginate_queryset(queryset) or [])


class CheckSerializer(serializers.ModelSerializer[AnswerCheck]):
    """What a person says that was answered; ``seen`` names the reading that they looked at."""

    id = serializers.UUIDField(source="public_id")
    response = serializers.UUIDField(source="response.public_id")
    checker = serializers.CharField(source="checker.username")
    seen = serializers.SerializerMethodField()
    follows = serializers.UUIDField(source="follows.public_id", default=None, allow_null=True)

    class Meta:
        model = AnswerCheck
        fields = [
            *("id", "response", "checker", "number", "follows", "seen", "source"),
            *("answers", "outcome", "confirmed", "created_at"),
        ]

    def get_seen(self, check: AnswerCheck) -> str:
        """Return ``e`` or ``m`` (patterns or a model) and a number."""
        return name_of(looked_at(check))


class NewCheckSerializer(serializers.Serializer[Any]):
    """A check to be saved; ``based_on`` is the number of the own check before it, 0 for none."""

    response = serializers.SlugRelatedField(
        slug_field="public_id", queryset=Response.objects.select_related("revision")
    )
    seen = serializers.CharField(max_length=20)
    answers = api_fields.ListField(
        child=api_fields.NumberTextField(max_length=500, allow_null=True), max_length=100
    )
    outcome = serializers.ChoiceField(choices=[one.value for one in ReadingOutcome])
    key = serializers.UUIDField()
    based_on = api_fields.IntegerField(min_value=0, default=0)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)


class CheckListAPI(DeclaredFilters, generics.ListAPIView[AnswerCheck]):
    """The own checks, the newest first; POST saves one."""

    capability = BOTH
    serializer_class = CheckSerializer
    queryset = AnswerCheck.objects.none()  # for the schema

    def get_queryset(self) -> Any:
        rows = AnswerCheck.objects.filter(checker=cast(User, self.request.user))
        related = ("response", "checker", "follows", "extraction", "model_reading")
        return rows.select_related(*related).order_by("-pk")

    @extend_schema(request=NewCheckSerializer, responses={201: CheckSerializer})
    def post(self, request: Request) -> Answer:
        """Save what was answered. The same ``key``: the same check."""
        form = NewCheckSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said, user = form.validated_data, cast(User, request.user)
        response = said["response"]
        own = own_check(response, user)
        source = CheckSource(own.source) if own else source_of(response, QueueChoice())
        saved = save_check(
            response,
            user,
            seen=reading_named(response, said["seen"]),
            said=Statement(tuple(said["answers"]), said["outcome"]),
            source=source,
            key=said["key"],
            based_on=said["based_on"],
        )
        return Answer(CheckSerializer(saved.check).data, status=status.HTTP_201_CREATED)


class WaitingSerializer(serializers.Serializer[Any]):
    """A response that waits to be checked, without its key and its model."""

    response = serializers.UUIDField()
    question_type = serializers.CharField()
    letters = serializers.CharField()
    asked = serializers.CharField()
    text = serializers.CharField()
    seen = serializers.CharField()
    answers = serializers.ListField(child=serializers.CharField(allow_null=True))
    spans = serializers.ListField(
        child=serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    )
    outcome = serializers.CharField()


@extend_schema_view(
    get=extend_schema(
        parameters=[OpenApiParameter("source", enum=[one.value for one in CheckSource])]
    )
)
class WaitingListAPI(DeclaredFilters, generics.ListAPIView[Response]):
    """What waits for this person, in the order of the queue; ``source`` names one reason."""

    capability = READ
    serializer_class = WaitingSerializer
    own_parameters = ("source",)
    queryset = Response.objects.none()  # for the schema

    def get_queryset(self) -> Any:
        name = self.request.query_params.get("source", "")
        if name and name not in list(CheckSource):
            raise NotFound(_("There is no such part of the queue."))
        choice = QueueChoice(CheckSource(name) if name else None)
        return waiting(cast(User, self.request.user), choice).select_related("revision")

    def paginate_queryset(self, queryset: Any) -> Any:
        return [shown(row) for row in super().paginate_queryset(queryset) or []]


def shown(response: Response) -> dict[str, Any]:
    """Return the representation of a response that waits."""
    reading, revision = reading_to_check(response), response.revision
    assert reading is not None  # it waits because of one
    return {
        "response": response.public_id,
        "question_type": revision.question_type,
        "letters": revision.letters,
        "asked": asked_as_shown(revision, response.option_order),
        "text": response.text,
        "seen": name_of(reading),
        "answers": reading.answers,
        "spans": reading.spans,
        "outcome": reading.outcome,
    }


class SampleSerializer(serializers.Serializer[Any]):
    """A random sample of a run, and what people found in it."""

    run = serializers.IntegerField(source="sample.run_id")
    random_seed = serializers.IntegerField(source="sample.random_seed")
    size = serializers.IntegerField(source="sample.size")
    among = serializers.IntegerField(source="sample.among")
    checked = serializers.IntegerField()
    wrong = serializers.IntegerField()
    rate = serializers.FloatField(source="rate.value", allow_null=True)
    low = serializers.FloatField(source="rate.low", allow_null=True)
    high = serializers.FloatField(source="rate.high", allow_null=True)
    created_at = api_fields.DateTimeField(source="sample.created_at")


class NewSampleSerializer(serializers.Serializer[Any]):
    """A sample to be drawn; null as random seed takes a new one."""

    run = api_fields.IntegerField(min_value=1)
    size = api_fields.IntegerField(min_value=1, max_value=MOST_DRAWN)
    random_seed = api_fields.IntegerField(
        min_value=0, max_value=2**31 - 1, allow_null=True, default=None
    )
    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return no_unknown(self, attrs)


class SampleListAPI(APIView):
    """The random samples; POST draws one."""

    capability = BOTH

    @extend_schema(responses=SampleSerializer(many=True))
    def get(self, request: Request) -> Answer:
        """Return all samples, the newest first."""
        refuse_unknown(request.query_params)
        return Answer(SampleSerializer(samples(list(read_runs())), many=True).data)

    @extend_schema(request=NewSampleSerializer, responses={201: SampleSerializer})
    def post(self, request: Request) -> Answer:
        """Draw readings of patterns that nobody has checked yet.

        The same ``idempotency_key`` with the same wishes: the same sample.
        """
        form = NewSampleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = form.validated_data
        sample: CheckSample = draw_sample(
            get_run(said["run"]),
            said["size"],
            acting_user=cast(User, request.user),
            random_seed=said["random_seed"],
            key=said["idempotency_key"] or "",
        )
        made = [one for one in samples([sample.run]) if one.sample == sample]
        return Answer(SampleSerializer(made[0]).data, status=status.HTTP_201_CREATED)


class CorrectionsSerializer(serializers.Serializer[Any]):
    """The corrections as cases of ``check_cases``, and how many today's patterns read right."""

    total = serializers.IntegerField()
    right = serializers.IntegerField()
    cases = serializers.ListField(child=serializers.DictField())


class CorrectionsAPI(APIView):
    """What people corrected."""

    capability = READ

    @extend_schema(responses=CorrectionsSerializer)
    def get(self, request: Request) -> Answer:
        """Return every correction on which people agree, and record it like a file."""
        refuse_unknown(request.query_params)
        report = take_checked_corrections(acting_user=cast(User, request.user))
        return Answer(CorrectionsSerializer(report).data)


urlpatterns = [
    path("runs/<int:pk>/read/", RunReadAPI.as_view(), name="api-run-read"),
    path("reading-labour/", LabourListAPI.as_view(), name="api-reading-labour"),
    path("answer-checks/", CheckListAPI.as_view(), name="api-answer-checks"),
    path("answer-checks/waiting/", WaitingListAPI.as_view(), name="api-answer-checks-waiting"),
    path("answer-checks/samples/", SampleListAPI.as_view(), name="api-check-samples"),
    path("answer-checks/corrections/", CorrectionsAPI.as_view(), name="api-corrections"),
]
