"""The addresses of one marking sheet, the same under each place that finds sheets its own way."""

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

Page = Callable[[MemberRequest, MarkingSheet, str], HttpResponse]
READ, SEND = ["GET", "HEAD"], ["POST"]


class Door(NamedTuple):
    """Who comes in, the space of the addresses, and which sheet an id is to them.

    ``sheet`` raises NotFound for an id that is none of theirs.
    """

    space: str
    capability: Capability
    sheet: Callable[[MemberRequest, UUID], MarkingSheet]


def sheet_routes(door: Door) -> list[URLPattern]:
    """The page of a sheet, what is done with it, its files and its paper."""
    return [
        _route(door, "", "sheet", [*READ, *SEND], pages.sheet_page),
        _route(door, "save/", "sheet-save", SEND, pages.save_page),
        _route(door, "return/", "sheet-return", SEND, pages.return_page),
        _route(door, "marks.csv", "sheet-csv", READ, csv_file),
        _route(door, "marks.xlsx", "sheet-xlsx", READ, xlsx_file),
        _route(door, "print/", "sheet-print", READ, pages.print_sheet),
    ]


def _route(door: Door, address: str, name: str, methods: list[str], page: Page) -> URLPattern:
    @require_http_methods(methods)
    @requires(door.capability)
    def view(request: MemberRequest, sheet_id: UUID) -> HttpResponse:
        return page(request, door.sheet(request, sheet_id), door.space)

    return path(f"sheets/<uuid:sheet_id>/{address}", view, name=name)
