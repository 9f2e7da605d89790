"""Marking sheets: whose they are, which responses are still on them, and what stands in a row.

A response is on a sheet while its slot is held by the sheet's teacher until the
very time that the sheet names. A sheet that has ended shows nothing of what becomes of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet

from evaluations.marking.desk.selectors.desk import WHOLE, blind_item
from evaluations.marking.sheets.rules.sheet_rows import SheetLine
from evaluations.models import MarkingRound, MarkingSheet, Slot
from gradeapp.accounts.models import User


@dataclass(frozen=True, slots=True)
class SheetState:
    """A sheet with the number of responses that are still on it, None once it has ended."""

    public_id: UUID
    teacher: str
    responses: int
    left: int | None
    held_until: datetime
    created_at: datetime
    ended: bool


def sheets_of(marking_round: MarkingRound, teacher: User | None = None) -> QuerySet[MarkingSheet]:
    """The sheets of a round, newest first; of one teacher if named."""
    sheets = marking_round.sheets.select_related("teacher", "round")
    return sheets.filter(teacher=teacher) if teacher else sheets


def sheet_called(public_id: UUID, teacher: User | None = None) -> MarkingSheet | None:
    """A sheet by its public id; for *teacher* only an own one, while they are in the pool."""
    sheets = MarkingSheet.objects.select_related("teacher", "round").filter(public_id=public_id)
    if teacher is not None:
        sheets = sheets.filter(
            teacher=teacher, round__pool__teacher=teacher, round__pool__left_at=None
        )
    return sheets.first()


def slots_on(sheet: MarkingSheet, now: datetime) -> QuerySet[Slot]:
    """The responses that are still on a sheet: not marked, not given back, in the desk's order.

    None of one that has ended: which of them others take at one moment would tell the checks.
    """
    if sheet.held_until <= now:
        return Slot.objects.none()
    held = Slot.objects.filter(
        answer__round=sheet.round,
        holder=sheet.teacher,
        lease_until=sheet.held_until,
        marked=False,
    )
    return held.order_by("answer__question", "answer__alias")


def states_of(sheets: Sequence[MarkingSheet], now: datetime) -> list[SheetState]:
    """What is left on each of some sheets."""
    return [
        SheetState(
            public_id=sheet.public_id,
            teacher=str(sheet.teacher),
            responses=sheet.responses,
            left=None if sheet.held_until <= now else slots_on(sheet, now).count(),
            held_until=sheet.held_until,
            created_at=sheet.created_at,
            ended=sheet.held_until <= now,
        )
        for sheet in sheets
    ]


def slots_with_texts(sheet: MarkingSheet, now: datetime) -> list[Slot]:
    """The responses that are still on a sheet, with all that is shown of them."""
    slots = (
        slots_on(sheet, now)
        .select_related("answer__round", *WHOLE)
        .prefetch_related("answer__rubric__points")
    )
    return list(slots)


def sheet_lines(sheet: MarkingSheet, now: datetime) -> list[SheetLine]:
    """The lines of a sheet: what the desk shows of each response, which has no mark yet."""
    return [SheetLine(blind_item(slot.answer), 0) for slot in slots_with_texts(sheet, now)]
