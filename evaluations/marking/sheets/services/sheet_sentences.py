"""What is wrong with a filled sheet or one of its cells, in a sentence for its teacher."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils.translation import gettext_lazy

from evaluations.marking.sheets.rules.sheet_rows import CellFault

FILE_SENTENCES: Mapping[str, object] = {
    "old_excel": gettext_lazy("This is an .xls file. Save it as .xlsx or CSV."),
    "not_text": gettext_lazy("The file is neither CSV nor an .xlsx workbook."),
    "broken_workbook": gettext_lazy("The workbook cannot be read. Save it again as .xlsx."),
    "too_large": gettext_lazy("The file is larger than the limit for marking sheets."),
    "no_header": gettext_lazy("This is not a marking sheet: the column %(missing)s is missing."),
    "column_twice": gettext_lazy("The column “%(title)s” appears twice."),
    "too_many_rows": gettext_lazy("A marking sheet can have at most %(most)s rows."),
    "busy": gettext_lazy("Several files are being read. Try again in a few seconds."),
}
CELL_SENTENCES: Mapping[CellFault, object] = {
    CellFault.POINT_MISSING: gettext_lazy("Scoring point %(point)s has no mark."),
    CellFault.POINT_NOT_A_NUMBER: gettext_lazy(
        "Scoring point %(point)s: “%(text)s” is not a number such as 2.5, with the digits 0 to 9."
    ),
    CellFault.POINT_TOO_MANY: gettext_lazy(
        "Scoring point %(point)s has a mark, but the response has only %(points)s."
    ),
    CellFault.TOTAL_MISSING: gettext_lazy("There is no total."),
    CellFault.TOTAL_NOT_A_NUMBER: gettext_lazy(
        "The total “%(text)s” is not a number such as 2.5, with the digits 0 to 9."
    ),
    CellFault.COMMENT_CHANGED: gettext_lazy(
        "The spreadsheet has made “%(text)s” of the comment. Type it again as text."
    ),
    CellFault.UNKNOWN_FLAG: gettext_lazy("There is no flag called “%(text)s”."),
}
