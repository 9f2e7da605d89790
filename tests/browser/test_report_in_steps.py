"""A report page over many responses: its rest comes by itself, fails in words, is never older."""

from __future__ import annotations

import pytest
from playwright.sync_api import Route, expect

from evaluations.models import Run
from evaluations.reports.selectors.kept_reports import forget
from evaluations.reports.views import overview
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.report_world import BETA, chosen, mark, run_of, written


@pytest.fixture
def run(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with answers of both parts, of which each look is in two steps."""
    monkeypatch.setattr(overview, "MOST_AT_ONCE", 0)
    forget()
    made = run_of()
    chosen(made, "A", "B")
    mark(written(made), "4", "7")
    return made


def test_the_rest_comes_by_itself_and_says_if_it_cannot(site: Site, run: Run, lead: User) -> None:
    page = site.open(lead)
    page.route("**/reports/?whole=*", lambda route: route.fulfill(status=403))
    page.goto("/reports/")
    expect(page.get_by_text("The rest could not be loaded.")).to_be_visible()
    expect(page.get_by_role("heading", name="Models")).to_be_visible()
    page.unroute("**/reports/?whole=*")
    forget()
    page.goto("/reports/")
    expect(page.get_by_role("heading", name="Agreement", exact=True)).to_be_visible()
    expect(page.locator("#report-rest svg").first).to_be_visible()
    assert page.locator("#report-rest").count() == 1


def test_what_changed_since_the_top_brings_all_of_the_page_anew(
    site: Site, run: Run, lead: User
) -> None:
    def answered_meanwhile(route: Route) -> None:
        chosen(run_of(BETA), "A")
        route.continue_()

    page = site.open(lead)
    page.route("**/reports/?whole=*", answered_meanwhile)
    page.goto("/reports/")
    expect(page.get_by_role("heading", name="Agreement", exact=True)).to_be_visible()
    models = page.get_by_role("region", name="Models")
    expect(models.get_by_text(BETA)).to_be_visible()
    assert page.locator("#report").count() == 1
