"""The API of reviews of wrong answers: own judgements for reviewers, figures for leads."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from django.db.models import QuerySet
from django.urls import path
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluations.capability.rules.dimensions import Dimension
from evaluations.capability.rules.weaknesses import Weakness
from evaluations.capability.selectors.capability_desk import own_judgements, slot_to_save
from evaluations.capability.selectors.capability_review import (
    Share,
    conditions_in,
    review_called,
    review_list,
    review_report,
)
from evaluations.capability.services.capability_judging import LONGEST_NOTE, save_judgement
from evaluations.capability.services.capability_review import note_few
from evaluations.models import CapabilityJudgement, CapabilityReview
from evaluations.reports.api import ReportSerializer
from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import DeclaredFilters, refuse_unknown
from gradeapp.common.refusals import BadInput, NotFound

FILTERS = ("review", "answer")
DIMENSIONS = [one.value for one in Dimension]
# A dimension may be null, where it does not apply, and is left out where the task does not ask.
APPLIES: dict[str, Any] = {"allow_null": True, "required": False}


class OwnJudgementSerializer(serializers.ModelSerializer[CapabilityJudgement]):
    """One version of an own judgement; a dimension that does not apply is null."""

    review = serializers.UUIDField(source="slot.item.review.public_id")
    answer = serializers.UUIDField(source="slot.item.public_id")
    weaknesses = serializers.ListField(child=serializers.ChoiceField(choices=Weakness.choices()))

    class Meta:
        model = CapabilityJudgement
        fields = [
            *("review", "answer", "key", "version"),
            *DIMENSIONS,
            *("weaknesses", "note", "seconds", "created_at"),
        ]


class ValueSerializer(serializers.Serializer[Any]):
    """1, 0 or null for each dimension that the task asks for; the others are left out."""

    understanding = api_fields.IntegerField(min_value=0, max_value=1, **APPLIES)
    knowledge = api_fields.IntegerField(min_value=0, max_value=1, **APPLIES)
    reasoning = api_fields.IntegerField(min_value=0, max_value=1, **APPLIES)
    calculation = api_fields.IntegerField(min_value=0, max_value=1, **APPLIES)


class NewJudgementSerializer(api_fields.KnownFields, ValueSerializer):
    """A judgement as the desk sends it; nobody sets a reviewer here."""

    answer = serializers.UUIDField()
    key = serializers.UUIDField()
    based_on_version = api_fields.IntegerField(min_value=0)
    weaknesses = api_fields.ListField(
        child=serializers.ChoiceField(choices=Weakness.choices()),
        max_length=len(Weakness),
        required=False,
        default=list,
    )
    note = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=LONGEST_NOTE
    )
    seconds = api_fields.IntegerField(required=False, allow_null=True, default=None)


class OwnJudgementsAPI(generics.ListAPIView[CapabilityJudgement]):
    """Own judgements, newest first, of a ``review`` or an ``answer`` if asked; POST saves one."""

    capability = Capability.MARK
    serializer_class = OwnJudgementSerializer
    queryset = CapabilityJudgement.objects.none()  # for the schema; the rows are one's own

    def get_queryset(self) -> QuerySet[CapabilityJudgement]:
        asked = self.request.query_params
        refuse_unknown(asked, FILTERS)
        named = {name: self._uuid(name) for name in FILTERS if name in asked}
        return own_judgements(cast(User, self.request.user), **named)

    def _uuid(self, name: str) -> Any:
        try:
            return serializers.UUIDField().to_internal_value(self.request.query_params[name])
        except serializers.ValidationError:
            raise BadInput(_("%(name)s must be an id.") % {"name": name}) from None

    @extend_schema(request=NewJudgementSerializer, responses={201: OwnJudgementSerializer})
    def post(self, request: Request) -> Response:
        """Save a judgement of an answer at hand. The same ``key`` and content: the same one."""
        reviewer, form = cast(User, request.user), NewJudgementSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = dict(form.validated_data)
        slot = slot_to_save(reviewer, said.pop("answer"))
        if slot is None:
            raise NotFound(_("There is no such response, or it is no longer assigned to you."))
        values = {one: said.pop(one.value) for one in Dimension if one.value in said}
        saved = save_judgement(slot, reviewer, values=values, **said, own_key=True)
        body = OwnJudgementSerializer(own_judgements(reviewer).get(pk=saved.judgement.pk)).data
        code = status.HTTP_200_OK if saved.repeated else status.HTTP_201_CREATED
        return Response(body, status=code)


class ReviewSerializer(serializers.ModelSerializer[CapabilityReview]):
    """A review with its counts: answers, judgements due and given."""

    dataset = serializers.CharField(source="dataset.slug")
    answers = serializers.IntegerField()
    due = serializers.IntegerField()
    given = serializers.IntegerField()

    class Meta:
        model = CapabilityReview
        fields = [
            *("public_id", "name", "dataset", "policy", "per_task", "reviewers_each"),
            *("random_seed", "status", "answers", "due", "given", "created_at", "closed_at"),
        ]


class ReviewListAPI(DeclaredFilters, generics.ListAPIView[CapabilityReview]):
    """All reviews of wrong answers, newest first."""

    capability = Capability.LEAD_ROUNDS
    serializer_class = ReviewSerializer
    queryset = review_list()


class ReviewAPI(APIView):
    """The figures of one review, as the page shows them: a report of shares."""

    capability = Capability.LEAD_ROUNDS

    @extend_schema(responses=ReportSerializer)
    def get(self, request: Request, public_id: UUID) -> Response:
        review = review_called(public_id)
        if review is None:
            raise NotFound(_("There is no such review."))
        shares = [Share(one.public_id) for one in conditions_in(review)]
        note_few(review, shares, acting_user=cast(User, request.user))
        return Response(review_report(review).as_dict())


urlpatterns = [
    path("capability-judgements/", OwnJudgementsAPI.as_view(), name="api-capability-judgements"),
    path("capability-reviews/", ReviewListAPI.as_view(), name="api-capability-reviews"),
    path("capability-reviews/<uuid:public_id>/", ReviewAPI.as_view(), name="api-capability-review"),
]
