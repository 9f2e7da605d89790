"""The API of reports: the JSON of the command line."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command

from evaluations.models import MarkingRound, RoundTeacher, Run
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.report_world import ALPHA, BETA, JUDGE, chosen, judged, mark, run_of, written

NAMES = ["rates", "converted", "agreement", "repeats", "ledger", "retries", "calibration"]


@pytest.fixture
def answers(db: None) -> None:
    run = run_of(ALPHA)
    chosen(run, "A", "B")
    response = written(run)
    mark(response, "4", "7")
    judged(response, "8")
    chosen(run_of(BETA), "A")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("query", "options"),
    [
        ({}, []),
        (
            {"model": [ALPHA, BETA], "marker": f"judge:{JUDGE}", "policy": "published"},
            ["--model", ALPHA, BETA, "--marker", f"judge:{JUDGE}", "--policy", "published"],
        ),
        ({"year": 2020}, ["--year", "2020"]),
    ],
)
def test_the_json_is_that_of_the_command(
    name: str, query: dict[str, object], options: list[str], curator: User, answers: None
) -> None:
    response = logged_in(curator).get(f"/api/v1/reports/{name}/", {"dataset": "exam", **query})
    assert response.status_code == 200
    printed = io.StringIO()
    command = ["report", name, "--dataset", "exam", *options, "--format", "json"]
    call_command(*command, stdout=printed)
    assert response.json() == json.loads(printed.getvalue())


def test_a_figure_has_its_n_its_interval_or_its_reason(curator: User, answers: None) -> None:
    body = logged_in(curator).get("/api/v1/reports/converted/", {"dataset": "exam"}).json()
    assert body["report"] == "converted"
    row = next(row for row in body["rows"] if row["key"]["subject"] == "Physics")
    assert row["key"]["policy"] == "strict"
    # one of two right: 22 of the 44 points of physics
    objective = row["figures"]["objective"]
    assert (objective["value"], objective["n"], objective["reason"]) == (22.0, 2, None)
    missing = next(row for row in body["rows"] if row["key"]["subject"] == "History")
    assert missing["figures"]["total"]["value"] is None
    assert missing["figures"]["total"]["reason"] == "missing:History/objective,History/subjective"


def test_a_lead_who_marks_is_told_to_wait(lead: User, answers: None) -> None:
    marking = MarkingRound.objects.create(
        name="now", dataset=Run.objects.earliest("pk").dataset, scheme="1", random_seed=1
    )
    RoundTeacher.objects.create(round=marking, teacher=lead)
    response = logged_in(lead).get("/api/v1/reports/rates/", {"dataset": "exam"})
    assert response.status_code == 403
    assert "open again when the round" in response.json()["detail"]


@pytest.mark.parametrize(
    ("name", "query", "status", "sentence"),
    [
        ("rates", {}, 400, "Specify the dataset, for example ?dataset=gaokao-bench."),
        ("rates", {"dataset": "exam", "models": "x"}, 400, "There is no parameter called models."),
        ("rates", {"dataset": "exam", "by": "year"}, 400, "There is no parameter called by."),
        ("rates", {"dataset": "exam", "year": "x"}, 400, "“x” is not a valid year."),
        ("rates", {"dataset": "x"}, 404, "There is no dataset “x”. Available: exam."),
        ("guess", {"dataset": "exam"}, 400, "There is no report “guess”"),
        ("cuts", {"dataset": "exam"}, 400, "Cut by one key or by two different ones"),
        ("cuts", {"dataset": "exam", "by": "colour"}, 400, "There is no “colour”; choose one of"),
    ],
)
def test_what_cannot_be_answered_gets_a_sentence(
    name: str, query: dict[str, str], status: int, sentence: str, curator: User, answers: None
) -> None:
    response = logged_in(curator).get(f"/api/v1/reports/{name}/", query)
    assert response.status_code == status
    assert sentence in response.json()["detail"]
