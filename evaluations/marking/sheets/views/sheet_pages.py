"""The pages of marking sheets, in two places: a teacher's own sheets, and a lead's of a round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from evaluations.marking.desk.selectors.desk import DeskItem, desk_item, nothing_given
from evaluations.marking.sheets.forms import FilledSheetForm, TakeForm
from evaluations.marking.sheets.rules.sheet_rows import FilledRow
from evaluations.marking.sheets.selectors import sheets_of, slots_with_texts, states_of
from evaluations.marking.sheets.services.marking_sheets import return_sheet, take_sheet
from evaluations.marking.sheets.services.sheet_reading import (
    CHANGES,
    CheckedRow,
    RowState,
    check_open,
    check_rows,
    hold_rows,
    rows_of_file,
    save_rows,
)
from evaluations.models import MarkingRound, MarkingSheet
from evaluations.models.vocabulary import RoundStatus
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.audit.reads import count_items
from gradeapp.common.one_file import one_file_of
from gradeapp.common.refusals import BadInput, Refusal

FOLDER = "evaluations/marking/sheets"
DAY = 24 * 3600
# Of the form that saves: its token and names stand around the rows.
AROUND_ROWS = 100_000


def sheets_page(
    request: MemberRequest, marking_round: MarkingRound, space: str, teacher: User | None
) -> HttpResponse:
    """The sheets of a round, of one *teacher* or of all; a POST takes a new one."""
    form = TakeForm(marking_round, teacher, *([request.POST] if request.method == "POST" else []))
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            sheet = take_sheet(
                marking_round,
                teacher or said["teacher"],
                responses=said["responses"],
                until=said["until"],
                acting_user=request.user,
                now=timezone.now(),
            )
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect(f"{space}:sheet", sheet.public_id)
    sheets = states_of(list(sheets_of(marking_round, teacher)), timezone.now())
    context = {"round": marking_round, "space": space, "form": form, "sheets": sheets}
    status = 400 if form.errors else 200
    return render(request, f"{FOLDER}/list.html", context, status=status)


def sheet_page(request: MemberRequest, sheet: MarkingSheet, space: str) -> HttpResponse:
    """One sheet: its files, its printable page, and where it is read back.

    A POST with the filled file shows what saving would do; nothing is saved by it.
    """
    if request.method == "POST":
        form = FilledSheetForm(request.POST, request.FILES)
        if form.is_valid():
            try:
                return _preview(request, sheet, space, form.cleaned_data["file"].read())
            except BadInput as refusal:
                form.add_error("file", str(refusal))
    else:
        form = FilledSheetForm()
    context = _context(sheet, space) | {"form": form}
    status = 400 if form.errors else 200
    return render(request, f"{FOLDER}/sheet.html", context, status=status)


def save_page(request: MemberRequest, sheet: MarkingSheet, space: str) -> HttpResponse:
    """Save the good rows of the file that was looked at; what became of each."""
    try:
        rows = signing.loads(request.POST.get("rows", ""), salt=_salt(sheet), max_age=DAY)
    except signing.BadSignature:
        raise BadInput(_("This preview has expired. Upload the file again.")) from None
    filled = [FilledRow(**row | {"points": tuple(row["points"])}) for row in rows]
    done = save_rows(sheet, filled, acting_user=request.user, now=timezone.now())
    context = _context(sheet, space) | _counted(done) | {"saved": True}
    return render(request, f"{FOLDER}/check.html", context)


def return_page(request: MemberRequest, sheet: MarkingSheet, space: str) -> HttpResponse:
    """Give what is left on the sheet back to the queue."""
    given = return_sheet(sheet, acting_user=request.user, now=timezone.now())
    sentence = ngettext(
        "%(n)d response was returned to the queue.",
        "%(n)d responses were returned to the queue.",
        given,
    )
    messages.success(request, sentence % {"n": given})
    return redirect(f"{space}:sheets", sheet.round.public_id)


def print_sheet(request: MemberRequest, sheet: MarkingSheet, space: str) -> HttpResponse:
    """Every response that is still on the sheet, one after another on paper."""
    back = reverse(f"{space}:sheet", args=[sheet.public_id])
    shown = [desk_item(slot, sheet.teacher) for slot in slots_with_texts(sheet, timezone.now())]
    if request.user != sheet.teacher and sheet.round.arbiter_marks_first:
        # What the teacher has begun to enter is part of a mark that leads must not see yet.
        shown = [replace(desk, given=nothing_given(desk.item)) for desk in shown]
    return print_page(request, sheet.round, shown, back)


def print_page(
    request: MemberRequest, marking_round: MarkingRound, shown: Sequence[DeskItem], back: str
) -> HttpResponse:
    """Responses with their rubrics and room for marks, each on a page of its own."""
    count_items(request.user, "response", (desk.item.public_id for desk in shown))
    context = {
        "name": marking_round.name,
        "marking_notes": marking_round.marking_notes,
        "pages": [{"desk": desk, "lines": _lines(desk)} for desk in shown],
        "back": back,
    }
    return render(request, f"{FOLDER}/print.html", context)


def _lines(desk: DeskItem) -> list[dict[str, Any]]:
    """The rubric's points with the group that begins at each, and what was given so far."""
    item, before, lines = desk.item, None, []
    several = len({point.sub for point in item.scoring_points}) > 1
    sub = 0
    for point, value in zip(item.scoring_points, desk.given.points, strict=True):
        new_group = point.group is not None and point.group != before
        group = item.point_groups[point.group - 1] if point.group else None
        lines.append(
            {
                "point": point,
                "value": value,
                "group": group if new_group else None,
                "in_group": group is not None,
                "sub": point.sub if several and point.sub != sub else None,
            }
        )
        before, sub = point.group, point.sub
    return lines


def _preview(
    request: MemberRequest, sheet: MarkingSheet, space: str, content: bytes
) -> HttpResponse:
    check_open(sheet)
    with one_file_of(request.user.pk):
        rows = rows_of_file(content)
    now = timezone.now()
    hold_rows(sheet, rows, now=now)
    checked = check_rows(sheet, rows, acting_user=request.user, now=now)
    kept = [asdict(row) for row, one in zip(rows, checked, strict=True) if one.can_be_saved]
    token = signing.dumps(kept, salt=_salt(sheet), compress=True)
    if len(token) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE - AROUND_ROWS:
        raise BadInput(
            _(
                "The comments of this file are too long to be saved at once. Split its rows into "
                "two files, and upload one after the other."
            ),
            code="too_long",
        )
    context = _context(sheet, space) | _counted(checked) | {"token": token}
    return render(request, f"{FOLDER}/check.html", context)


def _context(sheet: MarkingSheet, space: str) -> dict[str, Any]:
    (state,) = states_of([sheet], timezone.now())
    is_open = sheet.round.status == RoundStatus.OPEN
    return {"sheet": state, "round": sheet.round, "space": space, "is_open": is_open}


def _counted(rows: Sequence[CheckedRow]) -> dict[str, Any]:
    """Rows that need a look first, and how many there are of each state."""
    counts = {state.value: sum(row.state is state for row in rows) for state in RowState}
    counts["changed"] = sum(row.state in CHANGES for row in rows)
    ready = counts[RowState.NEW] + counts["changed"]
    ordered = sorted(rows, key=lambda row: row.state is not RowState.BAD)
    return {"rows": ordered, "counts": counts, "ready": ready, "states": list(RowState)}


def _salt(sheet: MarkingSheet) -> str:
    return f"marking-sheet:{sheet.public_id}"
