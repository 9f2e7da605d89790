"""A marking sheet as a file that a browser saves, in the words of its reader."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from evaluations.marking.sheets.rules.sheet_file import SheetWords, sheet_csv, sheet_xlsx
from evaluations.marking.sheets.rules.sheet_rows import SheetLine
from evaluations.marking.sheets.selectors import sheet_lines
from evaluations.marking.sheets.services.marking_sheets import note_download
from evaluations.models import MarkingSheet
from evaluations.models.vocabulary import Flag
from gradeapp.accounts.models import User
from gradeapp.accounts.permissions import MemberRequest
from gradeapp.common.csv_file import manifest, sha256
from gradeapp.common.plain_number import plain

Writer = Callable[[str, Sequence[SheetLine], SheetWords], bytes]
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
FORMATS: dict[str, tuple[Writer, str]] = {
    "csv": (sheet_csv, "text/csv; charset=utf-8"),
    "xlsx": (sheet_xlsx, XLSX),
}


def csv_file(request: MemberRequest, sheet: MarkingSheet, space: str) -> HttpResponse:
    """What is left on *sheet* as CSV."""
    return _file(sheet, "csv", request.user)


def xlsx_file(request: MemberRequest, sheet: MarkingSheet, space: str) -> HttpResponse:
    """What is left on *sheet* as a workbook."""
    return _file(sheet, "xlsx", request.user)


def _file(sheet: MarkingSheet, shape: str, reader: User) -> HttpResponse:
    """What is still on *sheet* as ``csv`` or ``xlsx``; who took it away is kept."""
    write, kind = FORMATS[shape]
    lines = sheet_lines(sheet, timezone.now())
    content = write(str(sheet.public_id), lines, sheet_words(sheet, lines))
    about = manifest(len(lines), sha256(content), {"format": shape})
    note_download(sheet, about, acting_user=reader)
    response = HttpResponse(content, content_type=kind)
    name = f"marking-sheet-{str(sheet.public_id)[:8]}.{shape}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def sheet_words(sheet: MarkingSheet, lines: Sequence[SheetLine]) -> SheetWords:
    """The words of a sheet in the language of the page that it is taken from."""
    language = get_language() or "en"
    return SheetWords(
        language=language,
        cut=_(
            "[Cut here: the cell limit is reached. The printable page and the "
            "marking desk show the full text.]"
        ),
        most=_("max"),
        best=_("the best %(n)s count"),
        pages=(_("Marks"), _("Instructions")),
        how_to=how_to(sheet, lines, language),
    )


def how_to(sheet: MarkingSheet, lines: Sequence[SheetLine], language: str) -> tuple[str, ...]:
    """How to fill in a sheet, sentence by sentence; at last the marking notes of the round."""
    flags = ", ".join(flag.label(language) for flag in Flag)
    step = plain(sheet.round.mark_step)
    said = [
        *_mark_columns(lines),
        _("A mark is a number such as 2.5, from 0 to the value after “max”, in steps of %(step)s.")
        % {"step": step},
        _("Comment and flags can be left empty. Separate flags with commas: %(flags)s.")
        % {"flags": flags},
        _("Empty rows are not marked. Fill them in later and upload the file again."),
        _("Do not change version, rubric code and ids. Columns with texts can be deleted."),
        _("Save as .xlsx or CSV and upload the file on the page of this sheet."),
    ]
    notes = sheet.round.marking_notes
    return (*said, "", _("Marking notes"), notes) if notes else tuple(said)


def _mark_columns(lines: Sequence[SheetLine]) -> list[str]:
    """Which columns a mark goes into: there are those of scoring points only where a rubric is."""
    with_points = sum(bool(line.item.scoring_points) for line in lines)
    if not with_points:
        return [_("Enter the mark in the column “Total”.")]
    points = _(
        "Enter points in the columns “Point 1”, “Point 2” …; a dash means "
        "that there is no such scoring point."
    )
    if with_points == len(lines):
        return [points, _("The total can be left empty.")]
    return [
        points,
        _("The total can be left empty. Without scoring points, the total is the mark."),
    ]
