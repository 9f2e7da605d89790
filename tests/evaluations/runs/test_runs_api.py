"""The API of runs, for the whole cast."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.models import Endpoint, Run, Study
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.runs import extend_run, start_run
from evaluations.templatetags.run_words import money
from gradeapp.accounts.models import User
from questions.rules.vocabulary import QuestionType
from tests.conftest import logged_in
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer

pytestmark = pytest.mark.django_db
RUNS = "/api/v1/runs/"


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    dataset = make_dataset("exam")
    make_question(make_task(dataset))
    make_question(make_task(dataset, question_type=QuestionType.OPEN_ENDED))
    return scripted_endpoint(server)


@pytest.fixture
def run(endpoint: Endpoint) -> Run:
    return start_run(endpoint=endpoint, dataset=make_dataset("exam"), acting_user=None)


def post(user: User, address: str, **data: Any) -> Any:
    return logged_in(user).post(address, data, content_type="application/json")


def test_start_look_and_read(admin: User, endpoint: Endpoint) -> None:
    key = {"idempotency_key": "mine"}
    started = post(admin, RUNS, endpoint="scripted", dataset="exam", repeats=2, **key)
    assert started.status_code == 201
    body = started.json()
    assert (body["status"], body["planned"], body["model"]) == ("queued", 4, "scripted-demo")
    again = post(admin, RUNS, endpoint="scripted", dataset="exam", repeats=2, **key)
    assert again.json()["id"] == body["id"]
    work_on_run(body["id"])
    client = logged_in(admin)
    body = client.get(f"{RUNS}{body['id']}/").json()
    assert (body["status"], body["done"], body["responses"]) == ("finished", 4, 4)
    assert body["progress"]["money"] == {
        "spent": "0.00000000",
        "possible": "0.00000000",
        "possibly_billed": 0,
    }
    rows = client.get(f"{RUNS}{body['id']}/responses/", {"part": "objective"}).json()["results"]
    assert [row["repeat"] for row in rows] == [1, 2]
    assert all(row["text"] and row["outcome"] and row["prompt_tokens"] for row in rows)
    assert Decimal(rows[0]["full_marks"]) == 6


def test_the_estimate_stands_beside_what_was_spent(
    admin: User, endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    Endpoint.objects.update(price_input=1000, price_output=2000, currency="EUR")
    endpoint.refresh_from_db()
    asked = {"endpoint": endpoint, "dataset": make_dataset("exam"), "repeats": 1}
    expected = estimate(**asked).answering.expected
    assert expected > 0
    body = post(admin, RUNS, endpoint="scripted", dataset="exam").json()
    assert Decimal(body["expected_cost"]) == expected
    shown = money(expected, "EUR")
    assert f"{shown} expected at the start" in logged_in(admin).get(f"/runs/{body['id']}/").text
    asks = ("--endpoint", "scripted", "--dataset", "exam")
    call_command("run_model", *asks, "--dry-run", "--format", "json")
    said = capsys.readouterr()
    assert f"2 calls, about {estimate(**asked).answering.tokens:,} tokens: expected" in said.err
    assert shown in said.err
    # A trial that goes on expects as much as all of it.
    beside = {"choice": {"trial": 1}, "start_anyway": True}
    trial = post(admin, RUNS, endpoint="scripted", dataset="exam", **beside)
    run = Run.objects.get(pk=trial.json()["id"])
    assert run.expected_cost is not None
    Run.objects.filter(pk=run.pk).update(status="stopped")
    part = run.expected_cost
    extend_run(run, acting_user=None)
    run.refresh_from_db()
    assert run.expected_cost == part * 2
    # Calls that cost nothing have no estimate.
    Endpoint.objects.update(price_input=0, price_output=0)
    free = post(admin, RUNS, endpoint="scripted", dataset="exam", start_anyway=True).json()
    assert free["expected_cost"] is None


def test_a_choice_and_the_earlier_steps_of_an_answer(admin: User, endpoint: Endpoint) -> None:
    given = {"endpoint": "scripted", "dataset": "exam", "setting": "zero-shot-cot"}
    given |= {"choice": {"part": "objective", "trial": 5}, "option_order": "shuffled"}
    given |= {"option_seed": 3, "largest_side": 512}
    body = post(admin, RUNS, **given).json()
    assert body["choice"] == {"part": "objective", "trial": 5, "random_seed": 0}
    settings = Run.objects.get().run_settings
    assert (settings["option_order"], settings["random_seed"]) == ("shuffled", 3)
    assert settings["largest_side"] == 512
    work_on_run(body["id"])
    (row,) = logged_in(admin).get(f"{RUNS}{body['id']}/responses/").json()["results"]
    (first,) = row["earlier_steps"]
    assert first["step"] == 1
    assert first["text"]
    assert first["completion_tokens"]
    refused = post(admin, RUNS, **{**given, "choice": {"parts": "objective"}})
    assert (refused.status_code, "parts" in refused.text) == (400, True)


def test_studies(admin: User, lead: User, endpoint: Endpoint) -> None:
    address = "/api/v1/studies/"
    conditions = [{}, {"setting": "zero-shot-cot", "sampling": {"temperature": 0.3}}]
    given = {"name": "Both", "dataset": "exam", "endpoints": ["scripted"], "repeats": 2}
    given |= {"conditions": conditions, "choice": {"part": "objective"}, "budget": "12.50"}
    once = {**given, "idempotency_key": "once"}
    started = post(admin, address, **once)
    assert started.status_code == 201, started.text
    assert post(admin, address, **once).json()["id"] == started.json()["id"]
    body = started.json()
    assert (body["runs"], body["budget"], body["choice"]) == (2, "12.5000", {"part": "objective"})
    assert body["progress"]["planned"] == 2 + 4
    names = [run["condition"] for run in body["progress"]["runs"]]
    assert names == ["zero-shot", "zero-shot-cot · T 0.3"]
    one = f"{address}{body['id']}/"
    stopped = post(admin, f"{one}stop/").json()
    assert {run["status"] for run in stopped["progress"]["runs"]} == {"stopped"}
    assert post(admin, f"{one}resume/", budget="13").json()["budget"] == "13.0000"
    for run in body["progress"]["runs"]:
        work_on_run(run["id"])
    read = logged_in(lead).get(one).json()
    assert (read["progress"]["done"], read["progress"]["live"]) == (6, False)
    assert [row["id"] for row in logged_in(lead).get(address).json()["results"]] == [body["id"]]
    for changes in (
        {"conditions": []},
        {"endpoints": ["none"]},
        {"conditions": [{"settings": "few-shot"}]},
        {"conditions": [{"sampling": {"temperature": 9}}]},
        {"conditions": [{}, {}]},
        {"colour": "red"},
    ):
        refused = post(admin, address, **{**given, **changes})
        assert refused.status_code == 400, changes
    assert Study.objects.count() == 1


def test_a_run_with_a_judge(admin: User, endpoint: Endpoint) -> None:
    body = post(admin, RUNS, endpoint="scripted", dataset="exam", judge="scripted").json()
    listed = logged_in(admin).get(RUNS, {"purpose": "judge"}).json()["results"]
    assert [(row["judged_run"], row["judge"]) for row in listed] == [(body["id"], "scripted-demo")]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"endpoint": "none"}, 400),
        ({"dataset": "none"}, 400),
        ({"dataset": "empty"}, 400),
        ({"repeats": 0}, 400),
        ({"budget": "NaN"}, 400),
        ({"budget": "-1"}, 400),
        ({"setting": "few_shot"}, 400),
        ({"user_config": {"base_url": "http://169.254.169.254"}}, 400),
    ],
)
def test_bad_input(admin: User, endpoint: Endpoint, changes: dict[str, Any], status: int) -> None:
    make_dataset("empty")
    given = {"endpoint": "scripted", "dataset": "exam", **changes}
    refused = post(admin, RUNS, **given)
    assert (refused.status_code, refused.json()["code"] != "") == (status, True)
    assert refused.json()["detail"].endswith(".")
    if changes.get("budget") == "NaN":
        assert refused.json()["field"] == "budget"
    assert not Run.objects.exists()


def test_stop_resume_retry(admin: User, run: Run) -> None:
    one = f"{RUNS}{run.pk}/"
    assert post(admin, f"{one}stop/").json()["status"] == "stopped"
    assert post(admin, f"{one}resume/").json()["status"] == "queued"
    refused = post(admin, f"{one}resume/")
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")
    assert post(admin, f"{one}retry/").status_code == 409
    assert post(admin, f"{RUNS}999/stop/").status_code == 404


@pytest.mark.parametrize(
    "parameter", ["created_by__password__startswith", "endpoint__key_variable", "_connector"]
)
def test_filters_that_nobody_declared_are_refused(admin: User, run: Run, parameter: str) -> None:
    for address in (RUNS, f"{RUNS}{run.pk}/responses/"):
        response = logged_in(admin).get(address, {parameter: "x"})
        assert response.status_code == 400
        assert parameter in response.json()["detail"]


def test_the_key_and_its_variable_are_in_no_answer(
    admin: User, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SENTINEL_API_KEY", "sk-sentinel")
    Endpoint.objects.update(key_variable="SENTINEL_API_KEY")
    for address in (RUNS, f"{RUNS}{run.pk}/", "/api/v1/schema/"):
        assert "entinel" not in logged_in(admin).get(address).text
