"""The pages of marking open clean: nothing blocked, nothing axe would name, in both themes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import FinalMark, MarkingRound
from gradeapp.accounts.models import User
from tests.browser.conftest import Site, in_both_schemes
from tests.evaluations.marking_world import answers_of, give, small_round


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    """Three responses: one for the lead, one marked once, one untouched."""
    opened = small_round([teacher, other_teacher], 3, marking_notes="Half marks.")
    disputed, once, _ = answers_of(opened)
    give(disputed, teacher, ["3", "3", "6"], comment="all there", seconds=40)
    give(disputed, other_teacher, ["0", "0", "0"], comment="nothing there", seconds=40)
    give(once, other_teacher, ["3", "1.5", "2"], seconds=40)
    return opened


@pytest.mark.parametrize("width", [1440, 390])
def test_the_desk(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, teacher: User, width: int
) -> None:
    page = site.open(teacher, viewport={"width": width, "height": 844})
    page.goto("/marking/")
    assert in_both_schemes(page, axe) == []
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/responses/**")
    assert in_both_schemes(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("#flags > summary").click()
    assert in_both_schemes(page, axe) == []
    page.goto(f"/marking/rounds/{made.public_id}/")
    assert in_both_schemes(page, axe) == []
    page.goto(f"/marking/rounds/{made.public_id}/sheets/")
    assert in_both_schemes(page, axe) == []
    page.get_by_role("button", name="Create sheet").click()
    page.get_by_role("heading", name="2. Upload").wait_for()
    assert in_both_schemes(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("link", name="Print").click()
    page.get_by_role("button", name="Print").wait_for()
    assert in_both_schemes(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # A browser repeats the head of a table on each sheet of paper if the head stays whole.
    page.emulate_media(media="print")
    head = page.locator(".print-page .print-head:has-text('R-0')").first
    expect(head).to_have_css("display", "table-header-group")
    expect(head).to_have_css("break-inside", "avoid")
    expect(page.locator(".print-page").first).to_have_css("display", "table")


@pytest.mark.parametrize("width", [1440, 390])
def test_the_leads_pages(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, lead: User, width: int
) -> None:
    page = site.open(lead, viewport={"width": width, "height": 900})
    rounds = f"/rounds/{made.public_id}/"
    before = ("/rounds/", "/rounds/new/", rounds, f"{rounds}sheets/")
    for address in (*before, f"{rounds}arbitration/"):
        page.goto(address)
        assert in_both_schemes(page, axe) == [], address
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
    page.keyboard.press("1")
    page.keyboard.press("g")
    assert in_both_schemes(page, axe) == []
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Nothing to arbitrate").wait_for()
    assert in_both_schemes(page, axe) == []


def test_the_lead_settles_from_the_comment(site: Site, made: MarkingRound, lead: User) -> None:
    page = site.open(lead, viewport={"width": 1280, "height": 720})
    page.goto(f"/rounds/{made.public_id}/arbitration/")
    expect(page.locator("#claim")).to_contain_text("assigned to you until")
    for seen in (page.locator("tr.total"), page.get_by_role("button", name="Finalize & next")):
        expect(seen).to_be_in_viewport(ratio=1)
    for key in ("1", "g", "c"):
        page.keyboard.press(key)
    page.keyboard.type("one")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("two")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Nothing to arbitrate").wait_for()
    final = FinalMark.objects.get()
    decided = final.marks.get()
    assert (decided.reason, decided.comment.split()) == (
        "generous_reading",
        ["one", "two"],
    )


def test_too_few_teachers_are_told_in_place(
    site: Site, made: MarkingRound, lead: User, teacher: User
) -> None:
    page = site.open(lead)
    page.goto("/rounds/new/")
    expect(page.get_by_label("Scheme", exact=True)).to_have_value("2+1")
    page.get_by_label(str(teacher)).check()
    expect(page.locator("#load")).to_contain_text("needs at least 2 teachers, and 1 selected.")
    page.get_by_label("Scheme", exact=True).select_option("1")
    expect(page.locator("#load")).not_to_contain_text("needs")
