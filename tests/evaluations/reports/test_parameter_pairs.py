"""Every report takes a marker or a round together with each other parameter."""

from __future__ import annotations

from itertools import combinations

import pytest

from evaluations.models import Run
from evaluations.reports.forms import keys_of
from evaluations.reports.selectors.reports import EVERY_REPORT, OF_A_PAPER
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, JUDGE, chosen, judged, mark, run_of, written

pytestmark = pytest.mark.django_db


@pytest.fixture
def values(db: None) -> dict[str, str]:
    """A value of each parameter; the response has a right choice, marks and a judgement."""
    run = run_of(ALPHA)
    chosen(run, "A", "B")
    response = written(run, year=2021)
    judged(response, "6")
    return {
        "marker": f"judge:{JUDGE}",
        "round": str(mark(response, "7", "9").answer.round.public_id),
        "model": ALPHA,
        "run": str(Run.objects.get().pk),
        "year": "2021",
        "policy": "published",
        "without_blind": "yes",
    }


def test_two_parameters_at_once(admin: User, values: dict[str, str]) -> None:
    client = logged_in(admin)
    for report in sorted({*EVERY_REPORT} - {*OF_A_PAPER}):
        more = {"by": "task"} if "by" in keys_of(report) else {}
        for pair in combinations(values, 2):
            if not {"marker", "round"} & set(pair):
                continue  # of the runs alone: tested where each is read
            query = {"dataset": "exam", **more} | {name: values[name] for name in pair}
            page = client.get(f"/api/v1/reports/{report}/", query)
            assert page.status_code == 200, f"{report} {pair}"
