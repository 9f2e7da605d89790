"""A lead watches a teacher, pauses them and sends their marks back, in a real browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from evaluations.models import Mark, MarkingRound
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.marking_world import answers_of, give, small_round

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    """Twelve responses that both have marked: every third pair is 4 points apart."""
    made = small_round([teacher, other_teacher], 12)
    for number, answer in enumerate(answers_of(made)):
        give(answer, teacher, ("3", "1" if number % 3 else "3", "0"), seconds=30)
        give(answer, other_teacher, ("2" if number % 3 else "0", "2", "0"), seconds=20)
    return made


def test_a_lead_watches_pauses_and_sends_back(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, teacher: User, lead: User
) -> None:
    page = site.open(lead)
    page.goto(reverse("rounds:round", args=[made.public_id]))
    page.get_by_role("link", name="Quality monitoring").click()
    charts = page.locator("[data-chart] svg")
    expect(charts).to_have_count(2)
    # two teachers with three points each from their tenth pair on
    page.locator("#agreement-title").locator("xpath=ancestor::section").get_by_text(
        "Show data as a table"
    ).click()
    expect(page.locator("table tbody tr", has_text="66.7")).to_have_count(4)
    page.get_by_role("link", name="tao").click()
    expect(page.get_by_role("heading", name="tao")).to_be_visible()
    expect(charts).to_have_count(1)  # eight final marks are too few for a line
    expect(page.get_by_role("heading", name="Not enough data for a line")).to_be_visible()
    page.get_by_text("Pause", exact=True).click()
    page.get_by_label("Reason").fill("Please call me first.")
    page.get_by_role("button", name="Pause teacher").click()
    expect(page.get_by_text("tao is paused.")).to_be_visible()
    page.get_by_role("link", name="Return for re-marking").click()
    page.get_by_label("Marks saved since").fill("2020-01-01T00:00")
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Return 12 marks").click()
    expect(page.get_by_text("12 marks were returned for re-marking.")).to_be_visible()
    assert Mark.objects.counting().filter(teacher=teacher).count() == 0


def test_the_panel_of_limits_stands_in_a_narrow_window(
    site: Site, made: MarkingRound, lead: User
) -> None:
    page = site.open(lead, viewport={"width": 390, "height": 844})
    page.goto(reverse("monitoring:round", args=[made.public_id]))
    # Shorter words, as in Chinese, put the buttons farther to the right.
    page.evaluate("document.querySelector('.page-actions > .button').textContent = 'x'")
    page.get_by_text("Limits", exact=True).click()
    panel = page.locator(".menu-panel", has_text="Set limits").bounding_box()
    assert panel is not None
    assert panel["x"] >= 0
    assert panel["x"] + panel["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_tables_of_a_round_stand_on_the_paper(
    site: Site, made: MarkingRound, teacher: User, lead: User, language: str
) -> None:
    """Each sheet has the whole width, and goes on where the page ends."""
    paper = {"width": 688, "height": 1000}  # A4 less its margins
    page = site.open(lead, viewport=paper, locale=language)
    for name in ("monitoring:round", "rounds:round", "monitoring:tolerance", "monitoring:teacher"):
        who = [teacher.public_id] if name == "monitoring:teacher" else []
        page.goto(reverse(name, args=[made.public_id, *who]))
        page.emulate_media(media="print")
        beyond = page.evaluate(
            """[...document.querySelectorAll("section.sheet:has(table)")].map(sheet =>
                sheet.querySelector("table").getBoundingClientRect().right
                - sheet.getBoundingClientRect().right)"""
        )
        assert beyond, name
        assert max(beyond) <= 0, name
        sheets = page.locator("section.sheet").evaluate_all(
            """found => found.map(sheet =>
                [sheet.getBoundingClientRect().left, getComputedStyle(sheet).breakInside])"""
        )
        assert {where for where, _ in sheets} == {sheets[0][0]}, name
        assert {rule for _, rule in sheets} == {"auto"}, name


def test_the_monitors_have_no_barriers(
    site: Site, axe: Callable[[Page], list[str]], made: MarkingRound, teacher: User, lead: User
) -> None:
    key = made.public_id
    addresses = [
        *(reverse(f"monitoring:{name}", args=[key]) for name in ("round", "rubrics", "tolerance")),
        reverse("monitoring:teacher", args=[key, teacher.public_id]),
        reverse("monitoring:send-back", args=[key, teacher.public_id]) + "?since=2020-01-01T00:00",
    ]
    for width, theme in ((1440, "light"), (390, "dark")):
        page = site.open(lead, viewport={"width": width, "height": 900}, color_scheme=theme)
        for address in addresses:
            page.goto(address)
            assert axe(page) == [], address
            wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"{address} scrolls sideways by {wide}"
