"""The API of marking sheets: take responses away, read them, and send marks back row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from evaluations.marking.desk.api import teacher_of
from evaluations.marking.desk.selectors.desk import open_rounds, own_round
from evaluations.marking.sheets.rules.sheet_rows import FilledRow, SheetLine
from evaluations.marking.sheets.selectors import (
    SheetState,
    sheet_called,
    sheet_lines,
    sheets_of,
    states_of,
)
from evaluations.marking.sheets.services.marking_sheets import return_sheet, take_sheet
from evaluations.marking.sheets.services.sheet_reading import (
    CheckedRow,
    check_rows,
    hold_rows,
    save_rows,
)
from evaluations.models import MarkingSheet
from evaluations.models.vocabulary import Flag
from gradeapp import api_fields
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Capability
from gradeapp.audit.reads import count_items
from gradeapp.common.parameters import refuse_unknown
from gradeapp.common.plain_number import plain
from gradeapp.common.refusals import NotFound
from questions.rules.rubric import MOST_POINTS

MOST_ROWS = 100


class NewSheetSerializer(api_fields.KnownFields):
    """How many responses of which round to take away, until the end of which day."""

    round = serializers.UUIDField()
    responses = api_fields.IntegerField()
    until = serializers.DateField()


class FilledRowSerializer(api_fields.KnownFields):
    """One row as it would stand in the file; numbers as text or as numbers."""

    response = serializers.CharField(max_length=64)
    version = serializers.CharField(max_length=20, default="0")
    points = api_fields.ListField(
        child=api_fields.NumberTextField(max_length=40, allow_blank=True),
        default=list,
        max_length=MOST_POINTS,
    )
    total = api_fields.NumberTextField(max_length=40, allow_blank=True, default="")
    rubric = serializers.CharField(max_length=20, allow_blank=True, default="")
    comment = serializers.CharField(max_length=10_000, allow_blank=True, default="")
    flags = api_fields.ListField(
        child=serializers.CharField(max_length=40), max_length=len(Flag), default=list
    )


class FilledRowsSerializer(api_fields.KnownFields):
    """Rows, and whether the good ones are to be saved; without it nothing is changed."""

    rows = FilledRowSerializer(many=True, max_length=MOST_ROWS)
    save = serializers.BooleanField(default=False)


class SheetSerializer(serializers.Serializer[Any]):
    """A sheet and how much of it is left to be marked."""

    sheet = serializers.UUIDField(source="public_id")
    responses = serializers.IntegerField()
    left = serializers.IntegerField(allow_null=True, help_text="null: the sheet has ended")
    held_until = api_fields.DateTimeField()
    created_at = api_fields.DateTimeField()


class SheetsAPI(APIView):
    """Own sheets of open rounds; POST takes a new one."""

    capability = Capability.MARK

    @extend_schema(responses=SheetSerializer(many=True))
    def get(self, request: Request) -> Response:
        """Own sheets, newest first."""
        refuse_unknown(request.query_params)
        teacher = teacher_of(request)
        sheets = [sheet for one in open_rounds(teacher) for sheet in sheets_of(one, teacher)]
        found = states_of(sorted(sheets, key=lambda sheet: -sheet.pk), timezone.now())
        return Response(SheetSerializer(found, many=True).data)

    @extend_schema(request=NewSheetSerializer, responses={201: SheetSerializer})
    def post(self, request: Request) -> Response:
        """Take the next responses of the queue away."""
        form = NewSheetSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        said, teacher = form.validated_data, teacher_of(request)
        marking_round = own_round(teacher, said.pop("round"))
        if marking_round is None:
            raise NotFound(_("There is no such round."))
        now = timezone.now()
        sheet = take_sheet(marking_round, teacher, **said, acting_user=teacher, now=now)
        return Response(SheetSerializer(_state(sheet)).data, status=status.HTTP_201_CREATED)


class SheetAPI(APIView):
    """What is still to be marked on one own sheet; POST sends marks; DELETE gives the rest back."""

    capability = Capability.MARK

    @extend_schema(responses=SheetSerializer)
    def get(self, request: Request, sheet_id: UUID) -> Response:
        """The sheet with its lines: what the desk shows of each response."""
        sheet = _own(teacher_of(request), sheet_id)
        body = SheetSerializer(_state(sheet)).data
        lines = [_line(line) for line in sheet_lines(sheet, timezone.now())]
        count_items(request.user, "response", (line["response"] for line in lines))
        return Response(body | {"lines": lines})

    @extend_schema(
        operation_id="sheets_fill", request=FilledRowsSerializer, responses=SheetSerializer
    )
    def post(self, request: Request, sheet_id: UUID) -> Response:
        """Check the rows and, if asked, save the good ones; what becomes of each."""
        teacher = teacher_of(request)
        sheet = _own(teacher, sheet_id)
        form = FilledRowsSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        rows = _filled(sheet, form.validated_data["rows"])
        now = timezone.now()
        hold_rows(sheet, rows, now=now)
        if form.validated_data["save"]:
            done = save_rows(sheet, rows, acting_user=teacher, now=now)
        else:
            done = check_rows(sheet, rows, now=now)
        body = SheetSerializer(_state(sheet)).data
        return Response(body | {"rows": [_said(row) for row in done]})

    @extend_schema(responses=SheetSerializer)
    def delete(self, request: Request, sheet_id: UUID) -> Response:
        """Give what is left back to the queue; the sheet and its marks stay."""
        teacher = teacher_of(request)
        sheet = _own(teacher, sheet_id)
        return_sheet(sheet, acting_user=teacher, now=timezone.now())
        return Response(SheetSerializer(_state(sheet)).data)


def _own(teacher: User, sheet_id: UUID) -> MarkingSheet:
    found = sheet_called(sheet_id, teacher)
    if found is None:
        raise NotFound(_("You have no such marking sheet."))
    return found


def _state(sheet: MarkingSheet) -> SheetState:
    (state,) = states_of([sheet], timezone.now())
    return state


def _line(line: SheetLine) -> dict[str, Any]:
    item = line.item
    points = [{"text": one.text, "max": plain(one.points)} for one in item.scoring_points]
    return {
        "response": item.public_id,
        "alias": item.alias,
        "version": line.version,
        "question": item.stem,
        "answer_key": item.answer_key,
        "text": item.response_text,
        "full_marks": plain(item.full_marks),
        "scoring_points": points,
        "rubric": item.rubric,
    }


def _filled(sheet: MarkingSheet, rows: Sequence[dict[str, Any]]) -> list[FilledRow]:
    """The rows as they would have been read from a file, counted from 1."""
    return [
        FilledRow(
            line=number,
            sheet=str(sheet.public_id),
            response=row["response"],
            version=row["version"],
            points=tuple(point.strip() for point in row["points"]),
            total=row["total"].strip(),
            comment=row["comment"].strip(),
            flags=",".join(row["flags"]),
            rubric=row["rubric"].strip(),
        )
        for number, row in enumerate(rows, start=1)
    ]


def _said(row: CheckedRow) -> dict[str, Any]:
    return {
        "row": row.line,
        "alias": row.alias,
        "state": row.state.value,
        "total": None if row.total is None else plain(row.total),
        "detail": row.sentence,
    }


urlpatterns = [
    path("sheets/", SheetsAPI.as_view(), name="api-sheets"),
    path("sheets/<uuid:sheet_id>/", SheetAPI.as_view(), name="api-sheet"),
]
