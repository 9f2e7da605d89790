"""A lead starts a search for patterns, sees it end by itself, and accepts what it found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import PatternSearch
from evaluations.reading.selectors.reading_patterns import accepted_patterns
from evaluations.reading.services.pattern_searches import work_on_search
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.pattern_world import IN_WORDS, TAGGED, UNREAD, run_with

pytestmark = pytest.mark.django_db(transaction=True)


def sideways(page: Page) -> bool:
    width = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    return bool(page.evaluate(width))


def test_search_see_and_accept(site: Site, axe: Callable[[Page], list[str]], lead: User) -> None:
    run = run_with((TAGGED, 12), (IN_WORDS, 6), (UNREAD, 2))
    page = site.open(lead)
    page.goto(f"/runs/{run.pk}/")
    page.get_by_role("link", name="Patterns").click()
    assert axe(page) == []
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    assert axe(page) == []

    assert work_on_search(PatternSearch.objects.get().pk)
    # The page finds out by itself.
    expect(page.get_by_text("18 of 20 responses are matched by a pattern")).to_be_visible()
    page.get_by_text("Examples of 【答案】").click()
    expect(page.locator("mark").first).to_contain_text("【答案】")
    assert axe(page) == []
    row = page.get_by_role("row").filter(has_text="【答案】")
    row.get_by_role("button", name="Accept").click()
    expect(row.get_by_text("accepted")).to_be_visible()
    assert [one.expression for one in accepted_patterns().patterns] == ["【答案】 {0,3}<letters>"]
    row.get_by_role("button", name="Retire").click()
    expect(row.get_by_text("retired")).to_be_visible()
    assert accepted_patterns().patterns == ()


def test_on_a_phone_nothing_moves_sideways(
    site: Site, axe: Callable[[Page], list[str]], lead: User
) -> None:
    run = run_with((TAGGED, 12), (IN_WORDS, 6), (UNREAD, 2))
    page = site.open(lead, viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.goto(f"/runs/{run.pk}/patterns/")
    assert not sideways(page)
    page.get_by_role("button", name="Search").click()
    expect(page.get_by_text("waiting for a worker")).to_be_visible()
    assert not sideways(page)
    assert work_on_search(PatternSearch.objects.get().pk)
    expect(page.get_by_text("18 of 20 responses are matched by a pattern")).to_be_visible()
    assert not sideways(page)
    assert axe(page) == []
