"""The API of marking: a teacher's own marks, and nothing else of a round."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import QuerySet
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from evaluations.marking.desk.selectors.desk import own_marks, slot_to_save
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.desk.services.slots import asked_for_again
from evaluations.models import Mark
from evaluations.models.vocabulary import Flag
from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.common.parameters import refuse_unknown
from gradeapp.common.refusals import BadInput, NotFound
from questions.rules.rubric import MOST_POINTS

FILTERS = ("round", "response")


def teacher_of(request: Request) -> User:
    """The person behind a request that ``capability`` let in."""
    return cast(User, request.user)


class PointSerializer(serializers.Serializer[Any]):
    """Points for one scoring point, with its wording of that day."""

    wording = serializers.CharField()
    points = api_fields.DecimalField(max_digits=5, decimal_places=2)
    full = api_fields.DecimalField(max_digits=5, decimal_places=2)


class OwnMarkSerializer(serializers.ModelSerializer[Mark]):
    """One version of an own mark. The slot is not told: it would say which mark this is."""

    round = serializers.UUIDField(source="slot.answer.round.public_id")
    response = serializers.UUIDField(source="slot.answer.public_id")
    alias = serializers.CharField(source="slot.answer.alias")
    version = serializers.IntegerField(
        source="own_version", help_text="0: returned for re-marking; it no longer counts"
    )
    rubric = serializers.SerializerMethodField(
        help_text="code of the rubric that the points were given for"
    )
    points = PointSerializer(many=True)
    entered_by = serializers.SerializerMethodField(
        help_text="username of who entered the mark for the teacher; empty: the teacher"
    )

    class Meta:
        model = Mark
        fields = [
            *("round", "response", "alias", "key", "version", "stale", "total", "full"),
            *("rubric", "points", "comment", "flags", "seconds", "entered_by", "created_at"),
        ]

    def get_rubric(self, mark: Mark) -> str:
        return rubric_code(mark)

    def get_entered_by(self, mark: Mark) -> str:
        return mark.entered_by.username if mark.entered_by else ""


class NewMarkSerializer(api_fields.KnownFields):
    """A mark as the desk sends it: points in the rubric's order, or one total without a rubric.

    A field that there is not is refused: nobody sets a marker or a final mark here.
    """

    response = serializers.UUIDField()
    key = serializers.UUIDField()
    based_on_version = api_fields.IntegerField(min_value=0)
    points = api_fields.ListField(
        child=api_fields.DecimalField(max_digits=7, decimal_places=2),
        max_length=MOST_POINTS,
        required=False,
        default=list,
    )
    total = api_fields.DecimalField(
        max_digits=7, decimal_places=2, required=False, allow_null=True, default=None
    )
    rubric = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        max_length=20,
        help_text="code of the rubric that the points were given for; "
        "needed once the round has moved to a new rubric of the question",
    )
    comment = serializers.CharField(required=False, allow_blank=True, default="")
    flags = api_fields.ListField(
        child=serializers.ChoiceField(choices=Flag.choices()),
        max_length=len(Flag),
        required=False,
        default=list,
    )
    seconds = api_fields.IntegerField(required=False, allow_null=True, default=None)


class OwnMarksAPI(generics.ListAPIView[Mark]):
    """Own marks, newest first, of one ``round`` or one ``response`` if asked; POST saves one."""

    capability = Capability.MARK
    serializer_class = OwnMarkSerializer
    queryset = Mark.objects.none()  # for the schema; the rows are the teacher's own

    def get_queryset(self) -> QuerySet[Mark]:
        asked = self.request.query_params
        refuse_unknown(asked, FILTERS)
        named = {name: self._uuid(name) for name in FILTERS if name in asked}
        return own_marks(teacher_of(self.request), **named)

    def _uuid(self, name: str) -> Any:
        field = serializers.UUIDField()
        try:
            return field.to_internal_value(self.request.query_params[name])
        except serializers.ValidationError:
            raise BadInput(_("%(name)s must be an id.") % {"name": name}) from None

    @extend_schema(request=NewMarkSerializer, responses={201: OwnMarkSerializer})
    def post(self, request: Request) -> Response:
        """Save a mark for a response at hand. The same ``key`` and content: the same mark."""
        teacher, form = teacher_of(request), NewMarkSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said = dict(form.validated_data)
        now = timezone.now()
        slot = asked_for_again(teacher, slot_to_save, said.pop("response"), now=now)
        if slot is None:
            raise NotFound(_("There is no such response, or it is no longer assigned to you."))
        said["flags"] = tuple(Flag(flag) for flag in said["flags"])
        saved = save_mark(slot, teacher, **said, own_key=True, now=now)
        body = OwnMarkSerializer(own_marks(teacher).get(pk=saved.mark.pk)).data
        code = status.HTTP_200_OK if saved.repeated else status.HTTP_201_CREATED
        return Response(body, status=code)


urlpatterns = [path("marks/", OwnMarksAPI.as_view(), name="api-marks")]
