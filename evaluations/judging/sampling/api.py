"""API of samples: what is to be known, how far a sample is, and the totals that follow from it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.judging.sampling.selectors import SampleState, samples, state_of
from evaluations.judging.sampling.services import (
    Planned,
    SampleWish,
    note_look_at_samples,
    open_sample,
    open_sample_once,
    plan_for,
    plan_sample,
    wish_of,
)
from evaluations.marking.rounds.api.round_serializers import request_key, teachers_field
from evaluations.marking.rounds.selectors.round_choice import markable_runs
from evaluations.models import Judge, MarkingSample
from evaluations.schemes import DEFAULT_SCHEME, Scheme
from evaluations.statistics.figure import Figure
from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import refuse_unknown
from questions.rules.vocabulary import Stream


class MarkingSampleSerializer(serializers.ModelSerializer[MarkingSample]):
    """The first sample of a chain: what is to be known within ``half_width`` points of 750."""

    id = serializers.UUIDField(source="public_id")
    name = serializers.CharField(source="round.name")
    model = serializers.CharField(source="run.language_model.name")
    condition = serializers.CharField(source="run.condition.name")
    dataset = serializers.CharField(source="run.dataset.slug")
    judge = serializers.CharField(source="judge.name", default=None, allow_null=True)

    class Meta:
        model = MarkingSample
        fields = [
            *("id", "name", "run", "model", "condition", "dataset", "judge"),
            *("streams", "half_width", "created_at"),
        ]


class PlannedStratumSerializer(serializers.Serializer[Any]):
    """A subject and task: its questions, those marked, those drawn (marked, or waiting for their
    final mark), and those wanted in all."""

    subject = serializers.CharField(source="stratum.subject")
    task = serializers.CharField(source="stratum.task")
    questions = serializers.IntegerField(source="stratum.units")
    marked = serializers.IntegerField(source="stratum.marked")
    drawn = serializers.IntegerField()
    wanted = serializers.IntegerField()


class SamplePlanSerializer(serializers.Serializer[Any]):
    """How many questions teachers mark; ``reason`` is why the judge may not help, or null."""

    questions = serializers.IntegerField()
    wanted = serializers.IntegerField(source="size")
    next = serializers.IntegerField()
    without_judge = serializers.IntegerField()
    reason = serializers.SerializerMethodField()
    strata = PlannedStratumSerializer(many=True)

    def get_reason(self, plan: Planned) -> str | None:
        """None where the judge may help."""
        return plan.reason or None


class EstimateSerializer(serializers.Serializer[Figure]):
    """Points of 750 with an interval; n counts questions that teachers marked."""

    value = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(allow_null=True)


class SampleTotalSerializer(serializers.Serializer[Any]):
    """Estimates of one stream: with the judge, by teachers alone, and valid at every look."""

    stream = serializers.CharField()
    questions = serializers.IntegerField()
    marked = serializers.IntegerField()
    with_judge = EstimateSerializer(source="aided")
    teachers_alone = EstimateSerializer(source="human_only")
    with_judge_at_every_look = EstimateSerializer(source="aided_always")
    teachers_alone_at_every_look = EstimateSerializer(source="human_only_always")


class MarkingSampleStateSerializer(MarkingSampleSerializer):
    """A sample with its rounds, how many questions are marked, its totals and what is next."""

    rounds = serializers.ListField(child=serializers.UUIDField())
    drawn = serializers.IntegerField()
    marked = serializers.IntegerField()
    totals = SampleTotalSerializer(many=True)
    plan = SamplePlanSerializer(help_text="what the marks so far say of the questions still needed")

    class Meta(MarkingSampleSerializer.Meta):
        fields = [
            *MarkingSampleSerializer.Meta.fields,
            *("rounds", "drawn", "marked", "totals", "plan"),
        ]


class SampleWishSerializer(api_fields.KnownFields):
    """Which totals of a run are to be known within how many points, with or without a judge."""

    run = serializers.PrimaryKeyRelatedField(queryset=markable_runs())
    judge = serializers.SlugRelatedField(
        slug_field="name", queryset=Judge.objects.all(), allow_null=True, default=None
    )
    streams = api_fields.ListField(
        child=serializers.ChoiceField(choices=Stream.choices()),
        default=[Stream.SCIENCES.value],
        allow_empty=False,
        max_length=len(Stream),
    )
    half_width = api_fields.DecimalField(max_digits=5, decimal_places=2, default=Decimal(6))

    def wish(self) -> SampleWish:
        """Return what the valid body asks for."""
        said = self.validated_data
        streams = tuple(Stream(stream) for stream in dict.fromkeys(said["streams"]))
        return SampleWish(said["run"], said["judge"], streams, said["half_width"])


class SamplePeopleSerializer(api_fields.KnownFields):
    """Who marks, under which scheme, in a round of which name."""

    name = serializers.CharField(max_length=100)
    teachers = teachers_field()
    scheme = serializers.ChoiceField(choices=Scheme.choices(), default=DEFAULT_SCHEME.value)

    def people(self) -> dict[str, Any]:
        """Return the arguments of ``open_sample`` that the valid body has."""
        said = self.validated_data
        scheme = Scheme(said["scheme"])
        return {"name": said["name"], "teachers": said["teachers"], "scheme": scheme}


class NewMarkingSampleSerializer(SampleWishSerializer, SamplePeopleSerializer):
    """A wish, and who marks."""

    idempotency_key = serializers.CharField(max_length=200, default=None, allow_null=True)

    def once(self, person: User) -> dict[str, Any]:
        """Return what tells ``open_sample_once`` that this request of *person* came before."""
        wish, people = self.wish(), self.people()
        asked = {
            "run": wish.run.pk,
            "judge": wish.judge and wish.judge.pk,
            "streams": wish.streams,
            "half_width": wish.half_width,
            "name": people["name"],
            "teachers": sorted(teacher.pk for teacher in people["teachers"]),
            "scheme": people["scheme"],
        }
        return request_key("sample", person, self.validated_data["idempotency_key"], asked)


def shown(request: Request, sample: MarkingSample, code: int = status.HTTP_200_OK) -> Answer:
    """Return *sample*, the first of its chain; who saw its totals is noted."""
    state: SampleState = state_of(sample)
    note_look_at_samples([sample], acting_user=cast(User, request.user), page="api")
    sample.rounds = [part.round.public_id for part in state.parts]  # type: ignore[attr-defined]
    sample.plan = plan_sample(wish_of(sample), state)  # type: ignore[attr-defined]
    for name in ("drawn", "marked", "totals"):
        setattr(sample, name, getattr(state, name))
    return Answer(MarkingSampleStateSerializer(sample).data, status=code)


class SampleListAPI(generics.ListAPIView[MarkingSample]):
    """Samples, the newest first; POST draws one and opens its round."""

    capability = {
        "GET": Capability.SEE_JUDGEMENTS,
        "HEAD": Capability.SEE_JUDGEMENTS,
        "POST": Capability.LEAD_ROUNDS,
    }
    serializer_class = MarkingSampleSerializer
    queryset = samples()

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        refuse_unknown(request.query_params)
        return super().get(request, *args, **kwargs)

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page of *queryset*; who sees the models of samples is noted."""
        page = super().paginate_queryset(queryset)
        note_look_at_samples(page or (), acting_user=cast(User, self.request.user), page="api")
        return page

    @extend_schema(request=NewMarkingSampleSerializer, responses={201: MarkingSampleSerializer})
    def post(self, request: Request) -> Answer:
        """Draw it: the random seed is nobody's choice. Who opens it cannot mark in it.

        The same ``idempotency_key``: the same sample; with another request it is refused (422).
        """
        form = NewMarkingSampleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        lead = cast(User, request.user)
        given = form.people() | form.once(lead)
        made = open_sample_once(wish=form.wish(), acting_user=lead, **given)
        return Answer(MarkingSampleSerializer(made).data, status=status.HTTP_201_CREATED)


class SamplePlanAPI(APIView):
    """What a sample would need; nothing is drawn."""

    capability = {"POST": Capability.LEAD_ROUNDS}

    @extend_schema(request=SampleWishSerializer, responses=SamplePlanSerializer)
    def post(self, request: Request) -> Answer:
        """How many questions of each subject and task, with and without the judge."""
        form = SampleWishSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        plan = plan_for(form.wish(), acting_user=cast(User, request.user))
        return Answer(SamplePlanSerializer(plan).data)


class SampleAPI(APIView):
    """One sample: its marks so far, its totals, and what is still needed."""

    capability = Capability.SEE_JUDGEMENTS

    @extend_schema(responses=MarkingSampleStateSerializer)
    def get(self, request: Request, public_id: UUID) -> Answer:
        """What the page of the sample shows; that you looked is recorded."""
        refuse_unknown(request.query_params)
        return shown(request, get_object_or_404(samples(), public_id=public_id))


class SampleNextAPI(APIView):
    """The next part of a sample, where what is marked does not say enough."""

    capability = {"POST": Capability.LEAD_ROUNDS}

    @extend_schema(request=SamplePeopleSerializer, responses={201: MarkingSampleStateSerializer})
    def post(self, request: Request, public_id: UUID) -> Answer:
        """Draw the questions that are still needed, and open a round for them."""
        sample = get_object_or_404(samples(), public_id=public_id)
        form = SamplePeopleSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        open_sample(
            wish_of(sample),
            acting_user=cast(User, request.user),
            follows=state_of(sample).parts[-1],
            **form.people(),
        )
        return shown(request, sample, status.HTTP_201_CREATED)


urlpatterns = [
    path("samples/", SampleListAPI.as_view(), name="api-samples"),
    path("samples/plan/", SamplePlanAPI.as_view(), name="api-sample-plan"),
    path("samples/<uuid:public_id>/", SampleAPI.as_view(), name="api-sample"),
    path("samples/<uuid:public_id>/next/", SampleNextAPI.as_view(), name="api-sample-next"),
]
