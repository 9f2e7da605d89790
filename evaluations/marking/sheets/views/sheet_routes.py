"""The addresses of one marking sheet, for its teacher and for the lead of its round."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from django.http import HttpResponse
from django.urls import URLPattern, path
from django.views.decorators.http import require_http_methods

from evaluations.marking.sheets.views import sheet_pages as pages
from evaluations.marking.sheets.views.sheet_files import csv_file, xlsx_file
from evaluations.models import MarkingSheet
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.body_limit import takes_uploads

Page = Callable[[MemberRequest, MarkingSheet, str], HttpResponse]
READ, SEND = ["GET", "HEAD"], ["POST"]


class SheetAccess(NamedTuple):
    """The capability that is needed, the URL namespace, and how a sheet is looked up by id.

    ``sheet`` raises NotFound for a sheet that is not this person's.
    """

    space: str
    capability: Capability
    sheet: Callable[[MemberRequest, UUID], MarkingSheet]


def sheet_routes(access: SheetAccess) -> list[URLPattern]:
    """The page of a sheet, what is done with it, its files and its paper."""
    return [
        _route(access, "", "sheet", [*READ, *SEND], pages.sheet_page),
        _route(access, "save/", "sheet-save", SEND, pages.save_page),
        _route(access, "return/", "sheet-return", SEND, pages.return_page),
        _route(access, "marks.csv", "sheet-csv", READ, csv_file),
        _route(access, "marks.xlsx", "sheet-xlsx", READ, xlsx_file),
        _route(access, "print/", "sheet-print", READ, pages.print_sheet),
    ]


def _route(
    access: SheetAccess, address: str, name: str, methods: list[str], page: Page
) -> URLPattern:
    @require_http_methods(methods)
    @requires(access.capability)
    def view(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
        return page(request, access.sheet(request, sheet_id), access.space)

    if page is pages.sheet_page:  # a filled sheet has the texts that were taken away in it
        view = takes_uploads(access.capability)(view)
    return path(f"sheets/<uuid:sheet_id>/{address}", view, name=name)
