"""Reports of chosen rounds, and practice rounds on the pages of leads and teachers."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest
from django.core.management import call_command

from evaluations.facts.answer_facts import rebuild_facts
from evaluations.models import MarkingRound, Response
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round
from tests.evaluations.report_world import ALPHA, JUDGE, judged, mark, run_of, written
from tests.evaluations.reports.test_reports_pages import OVERVIEW, words

pytestmark = pytest.mark.django_db
CSV = "/reports/export/rates.csv"
API = "/api/v1/reports/rates/"


@pytest.fixture
def early() -> MarkingRound:
    """The first of two real rounds on one response (3 and 8 of 10), beside one of practice."""
    response = written(run_of(ALPHA))
    rounds = [mark(response, *pair).answer.round for pair in (("2", "4"), ("7", "9"), ("0", "0"))]
    for marking, name in zip(rounds, ("Early", "Late", "Trial"), strict=True):
        marking.name, marking.practice = name, name == "Trial"
        marking.save()
    rebuild_facts()  # practice is chosen before the first mark elsewhere
    return rounds[0]


def test_chosen_rounds_stay_in_every_address(admin: User, early: MarkingRound) -> None:
    client, key = logged_in(admin), str(early.public_id)
    whole = client.get(OVERVIEW)
    assert "Rounds: all" in whole.text
    assert "Trial" not in whole.text
    response = client.get(OVERVIEW, {"dataset": "exam", "round": key})
    assert response.context["params"].rounds == (key,)
    text = words(response.text)
    assert "Rounds: 1 of 2" in text
    assert "subjective by teachers (rounds: Early)" in text
    behind = re.findall(r'href="(/reports/(?:rows|pairs|export)[^"]*)"', unescape(response.text))
    assert len(behind) > 5
    assert [address for address in behind if f"round={key}" not in address] == []
    (pairs,) = {address for address in behind if "/pairs/" in address and "Physics" in address}
    assert "rounds: Early" in words(client.get(pairs).text)
    rows = client.get("/reports/rows/", {"dataset": "exam", "round": key})
    assert [line.figures["rate"].value for line in rows.context["sums"]] == [0.3]
    left_out = client.get(OVERVIEW, {"dataset": "exam", "round": "gone"})
    assert "does not exist in this dataset and was ignored" in left_out.text
    assert "published marks" not in text
    MarkingRound.objects.filter(pk=early.pk).update(published=True)
    assert "Early · published marks" in words(client.get(OVERVIEW).text)


@pytest.mark.parametrize("chosen", [1, 2])
def test_rounds_leave_the_marks_of_a_judge_as_they_are(
    admin: User, early: MarkingRound, chosen: int
) -> None:
    judged(Response.objects.get(), "6")
    client = logged_in(admin)
    query = {"dataset": "exam", "marker": f"judge:{JUDGE}"}
    names = ["Early", "Late"][:chosen]
    keys = [str(MarkingRound.objects.get(name=name).public_id) for name in names]
    for report in ("rates", "cuts", "trend", "ledger", "converted", "repeats"):
        asked = query | ({"by": "task"} if report == "cuts" else {})
        for address in (f"/api/v1/reports/{report}/", f"/reports/export/{report}.jsonl"):
            plain = client.get(address, asked)
            of_rounds = client.get(address, asked | {"round": keys})
            assert (plain.status_code, of_rounds.status_code) == (200, 200)
            assert figures(of_rounds.text) == figures(plain.text)
    rows = client.get("/reports/rows/", query | {"round": keys})
    assert [line.figures["rate"].value for line in rows.context["sums"]] == [0.6]
    for page in ("", "years/"):
        assert client.get(f"/reports/{page}", query | {"round": keys}).status_code == 200


def figures(text: str) -> str:
    """The rows of an answer, without what was asked for."""
    return re.sub(r'"(rounds|made_at)": ?("[^"]*"|\[[^]]*\]),? ?', "", text)


def test_command_api_and_file_take_rounds(admin: User, early: MarkingRound) -> None:
    client, key = logged_in(admin), str(early.public_id)
    query = {"dataset": "exam", "round": key}
    printed = io.StringIO()
    command = f"report rates --dataset exam --round {key} --format json"
    call_command(*command.split(), stdout=printed)
    body = client.get(API, query).json()
    assert body == json.loads(printed.getvalue())
    assert body["params"]["rounds"] == [key]
    assert {row["figures"]["rate"]["value"] for row in body["rows"]} == {0.3}
    (first, *_) = csv.DictReader(io.StringIO(client.get(CSV, query).text.lstrip("\ufeff")))
    assert (first["rounds"], float(first["rate"])) == (key, 0.3)
    plain = client.get(API, {"dataset": "exam"}).json()
    assert "rounds" not in plain["params"]
    assert {row["figures"]["rate"]["value"] for row in plain["rows"]} == {0.8}
    trial = MarkingRound.objects.get(name="Trial")
    for asked, status in ((trial.public_id, 400), ("no-id", 404)):
        refused = client.get(API, {"dataset": "exam", "round": str(asked)})
        assert (refused.status_code, "round" in refused.json()["detail"]) == (status, True)


def test_a_practice_round_says_so_where_it_is_seen(
    lead: User, teacher: User, other_teacher: User
) -> None:
    made = small_round([teacher, other_teacher], name="Warm up", practice=True)
    small_round([teacher, other_teacher], name="For real")
    by_lead, by_teacher = logged_in(lead), logged_in(teacher)
    (line,) = [
        row for row in by_lead.get("/rounds/").text.split("<tr>") if ">practice</span>" in row
    ]
    assert "Warm up" in line
    shown = words(by_lead.get(f"/rounds/{made.public_id}/").text)
    assert "Practice round Its marks stay in this round" in shown
    assert words(by_teacher.get("/marking/").text).count("practice") == 1
    desk = by_teacher.post(f"/marking/rounds/{made.public_id}/next/", follow=True)
    assert "Warm up · practice" in words(desk.text)
    api = by_lead.get("/api/v1/rounds/").json()["results"]
    assert {row["name"]: row["practice"] for row in api} == {"Warm up": True, "For real": False}
