"""The report and the judging pages in a real browser: charts, filters, nothing blocked."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from gradeapp.accounts.models import User
from tests.browser.conftest import Site, in_both_schemes
from tests.evaluations.report_world import (
    ALPHA,
    BETA,
    JUDGE,
    chosen,
    judged,
    run_of,
    whole_paper,
    written,
)

AXE = Callable[[Page], list[str]]


@pytest.fixture
def paper(db: None) -> None:
    """A model with a whole paper, another with one answer, and a judge."""
    whole_paper(run_of(ALPHA))
    for total in ("2", "4", "6", "8", "9"):
        judged(written(run_of(BETA)), total)


def test_the_report(site: Site, axe: AXE, lead: User, paper: None) -> None:
    page = site.open(lead)
    titles = ("Converted total score", "Scoring rate by subject", "Agreement between teachers")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto("/reports/")
        for title in titles:
            chart = page.locator("section", has=page.get_by_role("heading", name=title))
            expect(chart.locator(".chart-plot svg")).to_be_visible()
        assert in_both_schemes(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        totals = page.locator("section", has=page.get_by_role("heading", name=titles[0]))
        expect(totals.locator(".chart-plot text", has_text="375").first).to_be_visible()
        models = page.locator("section", has=page.get_by_role("heading", name="Models"))
        expect(models.locator(".table-wrap[data-more]")).to_have_count(1 if width == 390 else 0)
        models.locator(".table-wrap").evaluate("wrap => wrap.scrollBy(40, 0)")
        expect(models.locator(".table-wrap[data-more]")).to_have_count(0)


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
def test_an_open_menu_stands_in_a_narrow_window(site: Site, lead: User, language: str) -> None:
    for model in ("canary-alpha-with-a-long-name", "canary-beta-with-a-long-name"):
        chosen(run_of(model), "A", "B")
    page = site.open(lead, viewport={"width": 390, "height": 844}, locale=language)
    for address in ("/reports/", "/reports/cuts/?by=task"):
        page.goto(address)
        buttons = page.locator("details.menu > summary:visible")
        assert buttons.count() >= 5, "site, person, models, runs, export"
        for button in buttons.all():
            button.click()
            panel = page.locator("details.menu[open] > .menu-panel").bounding_box()
            assert panel is not None
            assert panel["x"] >= 0
            assert panel["x"] + panel["width"] <= 390
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            page.keyboard.press("Escape")


def test_filters_stay_in_the_address_and_charts_follow(site: Site, lead: User, paper: None) -> None:
    page = site.open(lead)
    page.goto("/reports/")
    page.get_by_label("Policy").select_option("published")
    models = page.locator("section", has=page.get_by_role("heading", name="Models"))
    expect(models.get_by_text("375.000").first).to_be_visible()
    assert "policy=published" in page.url
    page.get_by_text("Models: 2").click()
    page.get_by_role("checkbox", name=BETA).uncheck()
    page.locator(".menu[open]").get_by_role("button", name="Apply").click()
    expect(page.get_by_text("Models: 1")).to_be_visible()
    assert "policy=published" in page.url
    expect(page.locator(".chart-plot svg").first).to_be_visible()
    page.reload()
    expect(page.get_by_text("Models: 1")).to_be_visible()


def test_a_figure_leads_to_its_answers(site: Site, axe: AXE, lead: User, paper: None) -> None:
    page = site.open(lead)
    page.goto("/reports/")
    line = page.get_by_role("row", name=ALPHA).filter(has_text="375.0")
    line.get_by_role("link", name="55.0", exact=True).click()
    expect(page.get_by_role("heading", name=f"{ALPHA} · as published · Physics")).to_be_visible()
    total = page.get_by_role("row", name="Converted points of the subject")
    expect(total).to_contain_text("55.000")
    assert axe(page) == []


def test_the_file_comes_down(site: Site, lead: User, paper: None) -> None:
    page = site.open(lead)
    page.goto("/reports/")
    with page.expect_download() as download:
        page.get_by_role("link", name="Rates by subject: Export CSV").click()
    assert download.value.suggested_filename == "exam-rates.csv"
    page.goto("/reports/cuts/?dataset=exam&by=subject")
    with page.expect_download() as download:
        page.get_by_role("button", name="Scoring rate: SVG").click()
    assert download.value.suggested_filename == "Scoring-rate.svg"
    assert "<title>Scoring rate</title>" in download.value.path().read_text(encoding="utf-8")


def test_judging(site: Site, axe: AXE, admin: User, paper: None) -> None:
    page = site.open(admin)
    page.goto("/judging/")
    assert in_both_schemes(page, axe) == []
    page.get_by_role("link", name=JUDGE).click()
    expect(page.get_by_text("5 marked responses")).to_be_visible()
    assert in_both_schemes(page, axe) == []
    page.locator("a.row-link").first.click()
    expect(page.locator(".katex").first).to_be_visible()
    assert in_both_schemes(page, axe) == []


# What stands in each chart at the time of printing: its filled shapes, by colour and width.
SHAPES = """() => addEventListener("beforeprint", () => {
  window.printed = [...document.querySelectorAll("[data-chart] svg")].map((svg) => ({
    kind: svg.closest("[data-chart]").dataset.chart,
    box: svg.getAttribute("viewBox"),
    shapes: [...svg.querySelectorAll("path")].map((path) => [
      path.getAttribute("fill"), path.getAttribute("stroke"), Math.round(path.getBBox().width),
    ]),
  }));
})"""
# How far cells of tables that are printed reach over the right edge of the page.
CUT = """() => [...document.querySelectorAll(".table :is(th, td):last-child")]
  .filter((cell) => cell.checkVisibility())
  .map((cell) => cell.getBoundingClientRect().right - document.documentElement.clientWidth)
  .filter((over) => over > 0)"""


def test_a_printed_report_has_its_charts_and_every_column(
    site: Site, lead: User, paper: None
) -> None:
    page = site.open(lead, color_scheme="dark")
    page.goto("/reports/")
    expect(page.locator(".chart-plot text", has_text="375").first).to_be_visible()
    page.evaluate(SHAPES)
    pdf = page.pdf(prefer_css_page_size=True, print_background=True)
    wide, high = map(float, re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf)[0])
    assert (round(wide / 72 * 25.4), round(high / 72 * 25.4)) == (297, 210), "A4 in landscape"
    charts = {chart["kind"]: chart for chart in page.evaluate("window.printed")}
    assert set(charts) == {"bar", "radar", "scatter"}
    # Half of 750 points is half of the axis, in the accent of the light theme; nothing grows.
    bars = [width for fill, _, width in charts["bar"]["shapes"] if fill == "#2451a6"]
    assert max(bars, default=0) > 60
    assert all(chart["box"] and chart["shapes"] for chart in charts.values())
    # Afterwards the screen has its own colours again.
    expect(page.locator('[data-chart="bar"] path[fill="#8fb4f7"]').first).to_be_visible()
    page.set_viewport_size({"width": 1032, "height": 750})  # A4 less its margins
    page.emulate_media(media="print")
    expect(page.get_by_text("Report · exam")).to_be_visible()
    expect(page.get_by_text("Data as of")).to_be_visible()
    expect(page.locator(".toolbar")).to_be_hidden()
    assert page.locator(".table :is(th, td)").count() > 100
    assert page.evaluate(CUT) == []
