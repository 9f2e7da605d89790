"""The audit trail: a page and a file, for admins; closed to those who mark by the gate."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from gradeapp.accounts.confirmation import confirmed
from gradeapp.accounts.permissions import MemberRequest, requires
from gradeapp.accounts.roles import Capability
from gradeapp.audit import alerts, selectors
from gradeapp.audit.filters import TrailFilter
from gradeapp.audit.objects import note_reading
from gradeapp.audit.reads import recorded_lines
from gradeapp.audit.tags import Tag
from gradeapp.common.csv_cells import BOM, cell
from gradeapp.common.long_files import file_answer
from gradeapp.common.parameters import check_values, refuse_unknown

PAGE = 50
BEFORE = "before"


@require_safe
@requires(Capability.OPERATE)
def trail(request: MemberRequest) -> HttpResponse:
    """Entries by filter, newest first; the filters and the place stand in the address."""
    refuse_unknown(request.GET, [*TrailFilter.base_filters, BEFORE])
    given = request.GET.get(BEFORE, "0")
    before = int(given) if given.isascii() and given.isdigit() and len(given) < 19 else 0
    filters = TrailFilter(request.GET, queryset=selectors.entries())
    found = selectors.older(filters.qs, before, PAGE + 1)
    note_reading(selectors.entries_of(found[:PAGE]), request.user)
    context = {
        "filters": filters,
        "entries": selectors.shown(found[:PAGE]),
        "next": found[PAGE - 1].pk if len(found) > PAGE else None,
        "before": before,
        "query": _query(request),
        "states": selectors.chain_states(),
        "alerts": alerts.open_alerts(),
    }
    return render(request, "audit/trail.html", context)


@require_POST
@requires(Capability.OPERATE)
def acknowledge_alert(request: MemberRequest, pk: int) -> HttpResponse:
    """Take an alert off the pages."""
    alert = alerts.acknowledge(pk, acting_user=request.user)
    messages.success(request, _("The alert on %(name)s was acknowledged.") % {"name": alert.person})
    return redirect("audit:trail")


@require_safe
@requires(Capability.OPERATE)
@confirmed
def export(request: MemberRequest) -> HttpResponseBase:
    """The chosen entries as CSV, sent while they are read. Raises BadInput for a wrong filter."""
    refuse_unknown(request.GET, TrailFilter)
    filters = TrailFilter(request.GET, queryset=selectors.entries())
    check_values(filters)
    chosen = {name: value for name, value in request.GET.items() if value}
    rows = filters.qs.filter(at__lte=timezone.now())
    if request.method == "GET":
        note_reading(rows, request.user)
    sent = partial(recorded_lines, _lines(rows), Tag.TRAIL_EXPORTED, "trail:", headers=1)
    lines = partial(sent, actor=request.user, filters=chosen)
    media_type = "text/csv; charset=utf-8"
    return file_answer(request, lines, media_type=media_type, name="audit-trail.csv")


def _query(request: MemberRequest) -> str:
    data = request.GET.copy()
    data.pop(BEFORE, None)
    return data.urlencode()


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


def _lines(rows: Any) -> Iterator[bytes]:
    """The file, line by line: the header first."""
    writer = csv.writer(_Echo(), quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    header = ["id", "at", "person", "action", "tag", "object", "target", "details"]
    yield (BOM + writer.writerow(header)).encode()
    for one in selectors.all_shown(rows):
        entry = one.entry
        person = entry.actor.username if entry.actor else ""
        details = "; ".join(f"{name}: {value}" for name, value in one.details)
        at = entry.at.isoformat(timespec="microseconds")
        values = [entry.pk, at, person, one.action, entry.tag, one.name, entry.target, details]
        yield writer.writerow([cell(value) for value in values]).encode("utf-8", "backslashreplace")
