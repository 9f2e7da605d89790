"""A report page over many responses: the totals come first, the rest with a second request."""

from __future__ import annotations

import re

import pytest

from evaluations.models import Look
from evaluations.reports.selectors.kept_reports import forget
from evaluations.reports.views import overview
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.report_world import chosen, mark, run_of, written

FIRST = ('id="totals-title"', 'id="models-title"')
LATER = ('id="agreement-title"', 'id="rates-title"', 'id="ledger-title"')


@pytest.mark.django_db(transaction=True)
def test_the_top_comes_first_and_the_rest_by_its_link(
    lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    run = run_of()
    chosen(run, "A", "B")
    mark(written(run), "4", "7")
    client = logged_in(lead)

    def page(address: str = "/reports/?part=objective") -> str:
        text = client.get(address).content.decode()
        without_time = re.sub(r"\d\d:\d\d \(UTC", "(UTC", text)  # data as of
        return without_time[without_time.index('id="report"') :]

    at_once = page()
    assert all(one in at_once for one in (*FIRST, *LATER))
    monkeypatch.setattr(overview, "MOST_AT_ONCE", 2)
    assert page() == at_once  # it is in memory
    forget()
    Look.objects.all().delete()
    top = page()
    assert all(one in top for one in FIRST)
    assert not any(one in top for one in LATER)
    assert top[: top.index('id="report-rest"')] == at_once[: at_once.index('id="report-rest"')]
    (rest,) = re.findall(r'<a id="report-more" href="(\?part=objective[^"]*)"', top)
    assert f'hx-get="{rest}" hx-trigger="load"' in top
    assert page(f"/reports/{rest.replace('&amp;', '&')}") == at_once
    assert page() == at_once
    rest = f"/reports/{rest.replace('&amp;', '&')}"
    assert "HX-Retarget" not in client.get(rest, headers={"hx-request": "true"}).headers
    mark(written(run), "8", "8")
    changed = client.get(rest, headers={"hx-request": "true"})
    assert (changed["HX-Retarget"], changed["HX-Reselect"]) == ("#report", "#report")


@pytest.mark.django_db(transaction=True)
def test_whoever_saw_the_top_alone_has_looked_at_what_it_shows(
    lead: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A response with two marks, and final marks of few, in a subject of the models' table."""
    forget()
    monkeypatch.setattr(overview, "MOST_AT_ONCE", 0)
    answer = written(run_of())
    mark(answer, "4", "7")
    logged_in(lead).get("/reports/")
    assert Look.objects.filter(person=lead, response=answer).exists()
