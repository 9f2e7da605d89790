"""A figure of the report page that rests on only some of the answers says so where it stands."""

from __future__ import annotations

import re

import pytest

from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, run_of, whole_paper, written
from tests.evaluations.views.test_reports import OVERVIEW, page, words

pytestmark = pytest.mark.django_db


def test_a_total_of_some_marked_answers_says_so_where_it_stands(admin: User) -> None:
    alpha = run_of(ALPHA)
    whole_paper(alpha)
    assert "incomplete" not in page(admin)
    for _ in range(3):
        written(alpha)
    response = logged_in(admin).get(OVERVIEW)
    (line,) = response.context["model_lines"]
    (gap,) = line.gaps["sciences"]
    assert gap.all - gap.scored == 3
    said = f"incomplete: {gap.scored} of {gap.all} marked"
    text = words(response.text)
    # Every answer that has points earned half of them.
    assert re.search(rf"All subjects 375\.0 ±[\d.]+ {said}", text), "in the table of the chart"
    assert re.search(rf"{ALPHA} [\d.]+ ±[\d.]+ {said}", text), "in the table of the models"
    assert f"* {ALPHA} · Sciences: {said}" in text, "below the chart"
    assert response.context["totals"].data["categories"] == [f"{ALPHA} *"]
