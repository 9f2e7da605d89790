"""The command run_model: its JSON, its sentences, and Ctrl-C."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.llm.scripted import ScriptedServer, script_from
from evaluations.models import Endpoint, Job, Run
from evaluations.services.endpoints import save_endpoint
from tests.factories import make_dataset, make_question, make_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    task = make_task(make_dataset("exam"))
    for _ in range(3):
        make_question(task)
    return save_endpoint(
        name="scripted", base_url=server.base_url, model="scripted-demo", acting_user=None
    )


def run_model(*arguments: str, dataset: str = "exam", name: str = "scripted") -> Any:
    """Its JSON (None where it ended with status 1) and what it said on standard error."""
    out, err = io.StringIO(), io.StringIO()
    options = ["--endpoint", name, "--dataset", dataset, "--setting", "zero_shot", *arguments]
    try:
        call_command("run_model", *options, "--format", "json", stdout=out, stderr=err)
    except SystemExit:
        return None, err.getvalue()
    return json.loads(out.getvalue()), err.getvalue()


def test_wait_works_here_and_now(endpoint: Endpoint) -> None:
    result, said = run_model("--repeats", "2", "--limit", "2", "--wait")
    run = Run.objects.get()
    assert set(result) == {"run", "planned", "done", "failed", "spent", "seconds"}
    assert (result["run"], result["planned"], result["done"]) == (run.pk, 4, 4)
    assert (result["failed"], result["spent"]) == (0, 0)
    assert "4 of 4 done" in said
    assert run.status == "finished"


def test_without_wait_it_only_plans(endpoint: Endpoint, server: ScriptedServer) -> None:
    result, _said = run_model("--budget", "2.50")
    assert (result["planned"], result["done"]) == (3, 0)
    assert Run.objects.get().status == "queued"
    assert server.requests == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--repeats", "0"), "repeats"),
        (("--limit", "0"), "limit"),
        (("--budget", "0"), "above zero"),
        (("--budget", "NaN"), "above zero"),
        (("--budget", "much"), "such as 12.50"),
        (("--setting", "few_shot"), "zero_shot"),
    ],
)
def test_bad_input_gets_a_sentence(
    endpoint: Endpoint, arguments: tuple[str, ...], words: str
) -> None:
    result, said = run_model(*arguments)
    assert result is None
    assert words in said
    assert "Traceback" not in said
    assert not Run.objects.exists()


def test_unknown_names_list_what_there_is(endpoint: Endpoint) -> None:
    assert "scripted" in run_model(name="none")[1]
    assert "exam" in run_model(dataset="none")[1]


def test_an_empty_dataset_is_refused(endpoint: Endpoint) -> None:
    make_dataset("empty")
    assert "no active items" in run_model(dataset="empty")[1]


def test_a_missing_key_is_refused_before_anything(endpoint: Endpoint) -> None:
    Endpoint.objects.update(key_variable="NOT_SET_API_KEY")
    result, said = run_model("--wait")
    assert result is None
    assert "NOT_SET_API_KEY" in said
    assert not Run.objects.exists()


def test_a_wrong_key_ends_with_its_sentence(endpoint: Endpoint, server: ScriptedServer) -> None:
    server.endpoint.faults = script_from([{"fault": "auth", "times": 99}])
    result, said = run_model("--wait")
    assert result is None
    assert "refuses the key" in said
    assert "nothing is lost" in said
    assert Job.objects.filter(status="pending").count() == 3


def test_a_reached_budget_is_a_result(endpoint: Endpoint) -> None:
    Endpoint.objects.update(price_output=1000)
    result, _said = run_model("--wait", "--budget", "0.01")
    assert result["done"] < result["planned"]
    assert Run.objects.get().pause_reason == "budget"
