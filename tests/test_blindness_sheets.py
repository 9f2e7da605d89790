"""Sheets are as blind as the desk: files and paper of two worlds are the same bytes."""

from __future__ import annotations

import io
import zipfile
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluations.marking.sheets.services.marking_sheets import take_sheet
from evaluations.models import MarkingSheet
from tests.conftest import logged_in
from tests.test_blindness import CANARY, HTMX, WORLDS, World, look, world

__all__ = ["world"]  # the fixture
pytestmark = pytest.mark.django_db
PAGES = ("sheet", "sheet-csv", "sheet-xlsx", "sheet-print")


def sheet_of(world: World) -> MarkingSheet:
    """Every response that the teacher has not marked, held beyond the clock of the tests."""
    return take_sheet(
        world.made,
        world.teacher,
        responses=10,
        until=timezone.localdate() + timedelta(days=7),
        acting_user=world.teacher,
        now=timezone.now(),
    )


def unzipped(body: bytes) -> bytes:
    """A workbook with its parts in the open; anything else as it is."""
    if not body.startswith(b"PK"):
        return body
    with zipfile.ZipFile(io.BytesIO(body)) as opened:
        return b"".join(opened.read(name) for name in opened.namelist())


def test_sheets_of_two_worlds_are_the_same_bytes(world: World) -> None:
    client = logged_in(world.teacher)
    world.set(WORLDS[0])
    sheet = sheet_of(world)
    assert sheet.responses == 2
    addresses = [reverse(f"marking:{page}", args=[sheet.public_id]) for page in PAGES]
    addresses.append(reverse("marking:sheets", args=[world.made.public_id]))
    own = [world.marked, world.held]
    addresses += [reverse("marking:print", args=[answer.public_id]) for answer in own]
    seen = {address: look(client, address, HTMX) for address in addresses}
    assert {status for status, _, _ in seen.values()} == {200}
    for hidden in WORLDS[1:]:
        world.set(hidden)
        for address in addresses:
            again = look(client, address, HTMX)
            assert again == seen[address], address
            assert not CANARY.search(unzipped(again[2])), address
