"""The API of rounds, for leads: list, plan, look, steer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.urls import path
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import generics, status
from rest_framework.request import Request
from rest_framework.response import Response as Answer
from rest_framework.views import APIView

from evaluations.facts.looks import record_view
from evaluations.marking.rounds.api.round_serializers import (
    DeadlineSerializer,
    MarkingNotesSerializer,
    MoreTeachersSerializer,
    NewMarkingNotesSerializer,
    NewRoundSerializer,
    RoundSerializer,
    TeacherLoadSerializer,
)
from evaluations.marking.rounds.selectors.marking_notes import versions_of
from evaluations.marking.rounds.selectors.rounds import round_list, teacher_loads
from evaluations.marking.rounds.services import rounds as services
from evaluations.marking.rounds.services.marking_notes import write_marking_notes
from evaluations.marking.rounds.services.round_planning import plan_round_once
from evaluations.marking.rounds.views.rounds import round_to_change, visible_round
from evaluations.marking.services.finalizing import finalize_all_due
from evaluations.models import MarkingRound
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import refuse_unknown


def lead_of(request: Request) -> User:
    """The person behind a request that ``capability`` let in."""
    return cast(User, request.user)


def round_answer(
    marking_round: MarkingRound, reader: User, code: int = status.HTTP_200_OK
) -> Answer:
    """A round with its counts and what each teacher has; that *reader* looked is recorded.

    Who marks in a round that is not closed reads of no teacher: their checks are counted apart.
    """
    row = round_list().get(pk=marking_round.pk)
    if row.status != RoundStatus.PLANNED:  # its answer has no model and no mark
        record_view(row, acting_user=reader, page="api")
    marks_here = row.pool.filter(teacher=reader).exists() and row.status != RoundStatus.CLOSED
    loads = [] if marks_here else teacher_loads(marking_round)
    teachers = TeacherLoadSerializer(loads, many=True).data
    shown = RoundSerializer(row, context={"is_looked_at": True}).data
    return Answer({**shown, "teachers": teachers}, status=code)


class RoundListAPI(generics.ListAPIView[MarkingRound]):
    """Rounds, the newest first; POST plans one."""

    capability = Capability.LEAD_ROUNDS
    serializer_class = RoundSerializer
    queryset = round_list()

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Answer:
        refuse_unknown(request.query_params)
        finalize_all_due(timezone.now())
        return super().get(request, *args, **kwargs)

    @extend_schema(request=NewRoundSerializer, responses={201: RoundSerializer})
    def post(self, request: Request) -> Answer:
        """Plan a round; nobody marks before it is started.

        The same ``idempotency_key``: the same round; with another request it is refused (422).
        """
        form = NewRoundSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        made = plan_round_once(
            settings=form.settings(),
            **form.once(lead_of(request)),
            responses=form.choice(),
            teachers=form.validated_data["teachers"],
            acting_user=lead_of(request),
            now=timezone.now(),
        )
        return round_answer(made, lead_of(request), status.HTTP_201_CREATED)


class RoundAPI(APIView):
    """One round with its counts and its teachers."""

    capability = Capability.LEAD_ROUNDS

    @extend_schema(responses=RoundSerializer)
    def get(self, request: Request, round_id: UUID) -> Answer:
        """What the round's page shows above its responses; that you looked is recorded."""
        marking_round = visible_round(lead_of(request), round_id)
        return round_answer(marking_round, lead_of(request))


class RoundStepAPI(APIView):
    """A step in the life of a round that needs nothing but its name."""

    capability = Capability.LEAD_ROUNDS
    step: Callable[..., Any] = services.start_round

    @extend_schema(request=None, responses=RoundSerializer)
    def post(self, request: Request, round_id: UUID) -> Answer:
        """Take the step, or say in a sentence why not."""
        marking_round = round_to_change(lead_of(request), round_id)
        type(self).step(marking_round, acting_user=lead_of(request))
        return round_answer(marking_round, lead_of(request))


class RoundStartAPI(RoundStepAPI):
    """Start a planned round."""


class RoundPauseAPI(RoundStepAPI):
    """Pause an open round."""

    step = services.pause_round


class RoundResumeAPI(RoundStepAPI):
    """Resume a paused round."""

    step = services.resume_round


class RoundCloseAPI(APIView):
    """Close a round for good."""

    capability = Capability.LEAD_ROUNDS

    @extend_schema(request=None, responses=RoundSerializer)
    def post(self, request: Request, round_id: UUID) -> Answer:
        """Nothing more is given out or counted; marks and drafts stay."""
        marking_round = round_to_change(lead_of(request), round_id)
        services.close_round(marking_round, acting_user=lead_of(request), now=timezone.now())
        return round_answer(marking_round, lead_of(request))


class RoundDeadlineAPI(APIView):
    """Set the deadline of a round, or take it away."""

    capability = Capability.LEAD_ROUNDS

    @extend_schema(request=DeadlineSerializer, responses=RoundSerializer)
    def post(self, request: Request, round_id: UUID) -> Answer:
        """A deadline that passes warns and closes nothing."""
        marking_round = round_to_change(lead_of(request), round_id)
        form = DeadlineSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        services.set_deadline(
            marking_round,
            form.validated_data["deadline"],
            acting_user=lead_of(request),
            now=timezone.now(),
        )
        return round_answer(marking_round, lead_of(request))


class RoundTeachersAPI(APIView):
    """Take more teachers into the pool of a round."""

    capability = Capability.LEAD_ROUNDS

    @extend_schema(request=MoreTeachersSerializer, responses=RoundSerializer)
    def post(self, request: Request, round_id: UUID) -> Answer:
        """They share what nobody holds yet."""
        marking_round = round_to_change(lead_of(request), round_id)
        form = MoreTeachersSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        people = form.validated_data["teachers"]
        services.add_teachers(marking_round, people, acting_user=lead_of(request))
        return round_answer(marking_round, lead_of(request))


class MarkingNotesAPI(APIView):
    """The marking notes of a round, every version."""

    capability = Capability.LEAD_ROUNDS

    @extend_schema(responses=MarkingNotesSerializer(many=True))
    def get(self, request: Request, round_id: UUID) -> Answer:
        """The newest version first."""
        return self._versions_answer(visible_round(lead_of(request), round_id))

    @extend_schema(request=NewMarkingNotesSerializer, responses=MarkingNotesSerializer(many=True))
    def post(self, request: Request, round_id: UUID) -> Answer:
        """Write the next version; the desk shows it from now on."""
        marking_round = visible_round(lead_of(request), round_id)
        form = NewMarkingNotesSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        write_marking_notes(marking_round, acting_user=lead_of(request), **form.validated_data)
        return self._versions_answer(marking_round)

    def _versions_answer(self, marking_round: MarkingRound) -> Answer:
        return Answer(MarkingNotesSerializer(versions_of(marking_round), many=True).data)


urlpatterns = [
    path("rounds/", RoundListAPI.as_view(), name="api-rounds"),
    path("rounds/<uuid:round_id>/", RoundAPI.as_view(), name="api-round"),
    path("rounds/<uuid:round_id>/start/", RoundStartAPI.as_view(), name="api-round-start"),
    path("rounds/<uuid:round_id>/pause/", RoundPauseAPI.as_view(), name="api-round-pause"),
    path("rounds/<uuid:round_id>/resume/", RoundResumeAPI.as_view(), name="api-round-resume"),
    path("rounds/<uuid:round_id>/close/", RoundCloseAPI.as_view(), name="api-round-close"),
    path("rounds/<uuid:round_id>/deadline/", RoundDeadlineAPI.as_view(), name="api-round-deadline"),
    path("rounds/<uuid:round_id>/teachers/", RoundTeachersAPI.as_view(), name="api-round-teachers"),
    path(
        "rounds/<uuid:round_id>/rulings/", MarkingNotesAPI.as_view(), name="api-round-marking-notes"
    ),
]
