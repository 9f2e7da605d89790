"""A figure of the report page that rests on only some of the answers says so where it stands."""

from __future__ import annotations

import re
from typing import Any

import pytest

from gradeapp.accounts.models import User
from questions.rules.vocabulary import Subject
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, JUDGE, judged, mark, run_of, whole_paper, written
from tests.evaluations.reports.test_reports_pages import OVERVIEW, page, words

pytestmark = pytest.mark.django_db


def test_a_total_of_some_marked_answers_says_so_where_it_stands(admin: User, settings: Any) -> None:
    settings.REPORT_MARKED_PERCENT = 40  # of physics, 2 of 5 are marked
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
    assert re.search(rf"{ALPHA} · as published [\d.]+ ±[\d.]+ {said}", text), (
        "in the table of the models"
    )
    assert f"* {ALPHA} · as published · Sciences · {said}" in text, "below the chart"
    assert response.context["totals"].data["categories"] == [f"{ALPHA} · as published *"]


def test_a_total_of_too_few_marked_answers_is_not_drawn(admin: User) -> None:
    alpha = run_of(ALPHA)
    whole_paper(alpha)
    for response in [written(alpha) for _ in range(3)][:1]:
        mark(response, "4", "6")
        judged(response, "5")
    client = logged_in(admin)
    response = client.get(OVERVIEW)
    text = words(response.text)
    # Physics has 3 of 5 marked: its figures and the total of sciences wait behind a click.
    behind = re.findall(
        r'<details class="withheld"><summary>([^<]*)</summary>(.*?)</details>', response.text, re.S
    )
    assert {said for said, _ in behind} == {"3 of 5 marked", "Physics: 3 of 5 marked"}
    assert any("375.0" in words(figure) for _, figure in behind)
    outside = words(
        re.sub(r"<details class=.withheld.>.*?</details>", "", response.text, flags=re.S)
    )
    assert "All subjects 375.0" in outside, "the total of humanities"
    assert outside.count("375.0") == 3, "in both tables and the chart; that of sciences in none"
    assert f"{ALPHA} · as published · Sciences · Physics: 3 of 5 marked" in text
    sciences, humanities = response.context["totals"].data["series"]
    assert (sciences["values"], humanities["values"]) == ([None], [375.0])
    drawn = [axis["name"] for axis in response.context["subjects"].data["axes"]]
    assert ("Physics" in drawn, "Biology" in drawn) == (False, True)
    rows = client.get("/reports/rows/", {"dataset": "exam", "model": ALPHA, "subject": "Physics"})
    assert rows.text.count("<summary>3 of 5 marked</summary>") == 3, "rate, part and total"
    # A judge's marks are no better: 1 of 23.
    of_judge = words(client.get(OVERVIEW, {"marker": f"judge:{JUDGE}"}).text)
    assert "1 of 23 marked" in of_judge
    # Whoever calculates has the figure and its n.
    query = {"dataset": "exam", "marker": "teachers"}
    body = client.get("/api/v1/reports/converted/", query).json()
    totals = [row["figures"]["total"] for row in body["rows"] if row["key"]["subject"] == "ALL"]
    assert [total["value"] for total in totals] == [375.0, 375.0]


def test_where_every_total_rests_on_too_few_marks_the_head_says_so(admin: User) -> None:
    alpha = run_of(ALPHA)
    whole_paper(alpha)
    written(alpha, Subject.CHINESE)  # in both streams; 2 of 3 are marked
    text = words(page(admin))
    assert "No total of 750 points is shown yet" in text
    assert "A total is shown once 80 % are marked." in text
    assert f"{ALPHA} · as published · Sciences · Chinese: 2 of 3 marked" in text
    assert "shows what is missing" not in text


def test_a_model_without_any_points_says_so_in_words(admin: User) -> None:
    """Also in the columns of the subjects, where there is no room for a reason each."""
    written(run_of(ALPHA))
    for language, said in (("en", "nothing scored yet"), ("zh-hans", "尚无评分")):
        shown = logged_in(admin).get(OVERVIEW, headers={"Accept-Language": language}).text
        models = shown[shown.index('id="models-title"') :].partition("</section>")[0]
        assert f'colspan="10">{said}</td>' in models


def test_a_model_that_answered_some_questions_says_of_how_many_it_is(admin: User) -> None:
    """Its total looks like one of the whole examination."""
    whole_paper(run_of(ALPHA))
    assert "answers to" not in page(admin)
    written(run_of("canary-beta"))
    response = logged_in(admin).get(OVERVIEW)
    lines = {line.asked.model: line.answered for line in response.context["model_lines"]}
    assert lines == {ALPHA: 60, "canary-beta": 1}
    text, said = words(response.text), "answers to 60 of 61 questions"
    assert text.count(f"{ALPHA} · as published {said}") == 1, "in the table of the models"
    assert text.count(f"{ALPHA} · as published · {said}") == 1, "below the chart"
