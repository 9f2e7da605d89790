"""The command run_model: its JSON, its sentences, and Ctrl-C."""

from __future__ import annotations

import io
import json
import socket
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.core.management import call_command
from pytest_django import Settings

from evaluations.llm.retry import RetryPolicy
from evaluations.models import Endpoint, Job, Run
from evaluations.runs.services import call_results, run_states
from tests.evaluations.run_world import scripted_endpoint
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer, script_from

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    task = make_task(make_dataset("exam"))
    for _ in range(3):
        make_question(task)
    return scripted_endpoint(server)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without the usual waits."""
    monkeypatch.setattr(call_results, "COUNTED", RetryPolicy(attempts=4, first_wait=0.01))
    patient = RetryPolicy(attempts=10**6, rate_limit_attempts=10**6, first_wait=0.01)
    monkeypatch.setattr(call_results, "UNLIMITED_RETRIES", patient)


def run_model(*arguments: str, dataset: str = "exam", name: str = "scripted") -> Any:
    """Its JSON (None where it ended with status 1) and what it said on standard error."""
    options = ["--endpoint", name, "--dataset", dataset, "--setting", "zero-shot", *arguments]
    return called(*options)


def called(*options: str) -> Any:
    """As ``run_model``, without the usual options."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("run_model", *options, "--format", "json", stdout=out, stderr=err)
    except SystemExit:
        failed.append(json.loads(out.getvalue()) if out.getvalue() else None)
        return None, err.getvalue()
    return json.loads(out.getvalue()), err.getvalue()


# What was printed by the commands that ended with status 1.
failed: list[Any] = []


def test_wait_works_here_and_now(endpoint: Endpoint) -> None:
    result, said = run_model("--repeats", "2", "--limit", "2", "--wait")
    run = Run.objects.get()
    assert set(result) == {"run", "condition", "planned", "done", "failed", "spent", "seconds"}
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
        (("--sample", "0"), "sample"),
        (("--years", "2022-2019"), "Years are written"),
        (("--tasks", "none"), "no task none"),
        (("--prompts", "none"), "no prompt set"),
        (("--budget", "0"), "above zero"),
        (("--budget", "NaN"), "an amount such as"),
        (("--budget", "much"), "such as 12.50"),
        (("--budget", "0.00001"), "at most 4 decimals"),
        (("--budget", "9" * 40), "at most 99999999"),
        (("--setting", "few-shot"), "worked examples"),
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


REFUSED_ARGUMENTS = [
    ("run_model --setting fewshot", "choose from 'zero-shot', 'zero-shot-cot', 'few-shot', "),
    ("run_model --images foo", "choose from 'send', 'omit', 'without'"),
    ("run_model --option-order foo", "choose from 'printed', 'rotated', 'shuffled'"),
    ("run_model --stratified-by foo", "choose from"),
    ("run_model --limit x", "argument --limit: must be a whole number, not x"),
    ("run_model --largest-side 1", "from 64 to 8192 pixels"),
    ("run_model --unknown 1", "unrecognized arguments: --unknown"),
    ("import_answers jsonl x --repeat y", "--repeat: must be a whole number"),
    ("import_questions agieval", "required: path"),
    ("import_prompts", "required: set"),
    ("report rates --dataset exam --year x", "--year: must be a whole number"),
    ("export rates --dataset exam", "required: --output"),
    ("score --policy published", "one of the arguments --all --run is required"),
    ("save_endpoint --name a --base-url http://127.0.0.1:1/v1", "required: --model"),
    ("save_endpoint --name a --base-url http://127.0.0.1:1 --model m --timeout 0", "1 to 600"),
]


def test_every_argument_is_refused_in_a_sentence(
    endpoint: Endpoint, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, words in REFUSED_ARGUMENTS:
        name, *options = command.split()
        if name == "run_model":
            options = ["--dataset", "exam", "--endpoint", "scripted", *options]
        with pytest.raises(SystemExit) as ended:
            call_command(name, *options)
        said = capsys.readouterr().err
        assert ended.value.code == 1, command
        assert words in said
        assert "PromptSetting" not in said
        assert len(said.strip().splitlines()) == 1


def test_an_endpoint_is_saved_and_changed_by_command() -> None:
    def saved(*options: str) -> Any:
        out = io.StringIO()
        where = ("--name", "local", "--base-url", "http://127.0.0.1:8999/v1", "--model", "m")
        call_command("save_endpoint", *where, *options, "--format", "json", stdout=out)
        return json.loads(out.getvalue())

    assert saved("--max-in-flight", "3", "--price-input", "2.5") == {
        "endpoint": "local",
        "created": True,
    }
    assert saved("--timeout", "30", "--takes-images") == {"endpoint": "local", "created": False}
    kept = Endpoint.objects.get(name="local")
    assert (kept.max_in_flight, kept.timeout_seconds, float(kept.price_input)) == (3, 30, 2.5)
    assert kept.takes_images


def test_unknown_names_list_what_there_is(endpoint: Endpoint) -> None:
    assert "scripted" in run_model(name="none")[1]
    assert "exam" in run_model(dataset="none")[1]


def test_an_empty_dataset_is_refused(endpoint: Endpoint) -> None:
    make_dataset("empty")
    assert "no questions that can be asked" in run_model(dataset="empty")[1]


def test_a_missing_key_is_refused_before_anything(endpoint: Endpoint) -> None:
    Endpoint.objects.update(key_variable="NOT_SET_API_KEY")
    result, said = run_model("--wait")
    assert result is None
    assert "NOT_SET_API_KEY" in said
    assert not Run.objects.exists()


def test_a_wrong_key_ends_with_its_sentence(
    endpoint: Endpoint, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.endpoint.faults = script_from([{"fault": "auth", "times": 99}])
    monkeypatch.setenv("WRONG_API_KEY", "sk-sentinel-9e2d")
    Endpoint.objects.update(key_variable="WRONG_API_KEY")
    result, said = run_model("--wait")
    assert result is None
    assert "rejects the API key in the variable WRONG_API_KEY" in said
    assert "No data is lost" in said
    assert "sk-sentinel" not in said
    assert (failed[-1]["state"], failed[-1]["reason"]) == ("paused", "auth")
    monkeypatch.delenv("WRONG_API_KEY")
    before = len(failed)
    result, said = called("--resume", str(failed[-1]["run"]), "--wait")
    assert "WRONG_API_KEY" in said, "it cannot be resumed without a key"
    assert (len(failed), failed[-1]["state"], failed[-1]["reason"]) == (
        before + 1,
        *("paused", "auth"),
    )
    Endpoint.objects.update(key_variable="")
    server.endpoint.faults = script_from([])
    resumed, said = called("--resume", str(failed[-1]["run"]), "--wait")
    assert (resumed["state"], resumed["reason"], resumed["done"]) == ("finished", None, 3)
    Job.objects.update(status="pending")
    assert Job.objects.filter(status="pending").count() == 3


def test_no_key_where_one_is_wanted(endpoint: Endpoint, server: ScriptedServer) -> None:
    server.endpoint.faults = script_from([{"fault": "auth", "times": 99}])
    said = run_model("--wait")[1]
    assert "asks for an API key, and none is set" in said
    assert "refuses" not in said


def test_a_spent_quota_ends_with_its_sentence(endpoint: Endpoint, server: ScriptedServer) -> None:
    server.endpoint.faults = script_from([{"fault": "quota", "times": 99}])
    result, said = run_model("--wait")
    assert result is None
    assert "account of this API key has no quota left" in said
    assert Job.objects.filter(status="pending").count() == 3


def test_a_dead_endpoint_promises_no_try_that_needs_a_worker(
    endpoint: Endpoint, server: ScriptedServer, quick: None
) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        Endpoint.objects.update(base_url=f"http://127.0.0.1:{nobody.getsockname()[1]}/v1")
    result, said = run_model("--wait")
    assert result is None
    assert "Waiting calls: 3. No data is lost. This command ends here." in said
    assert "celery -A gradeapp worker --beat" in said
    assert "Next attempt at" not in said
    assert Job.objects.filter(status="pending").count() == 3


def test_failed_calls_are_a_result_and_no_success(
    endpoint: Endpoint, server: ScriptedServer, quick: None
) -> None:
    server.endpoint.faults = script_from([{"fault": "context_length", "times": 3}])
    out, err = io.StringIO(), io.StringIO()
    options = ["--endpoint", "scripted", "--dataset", "exam", "--wait", "--format", "json"]
    with pytest.raises(SystemExit) as ended:
        call_command("run_model", *options, stdout=out, stderr=err)
    assert ended.value.code == 1
    assert json.loads(out.getvalue())["failed"] == 3, "the result is there all the same"
    last = err.getvalue().splitlines()[-1]
    assert "Finished, but 3 of 3 calls failed: the prompt is too long for the model" in last
    assert "Retry the failed calls" in last


def test_one_failed_call_is_told_as_well(endpoint: Endpoint, server: ScriptedServer) -> None:
    server.endpoint.faults = script_from([{"fault": "bad_request"}])
    result, said = run_model("--wait")
    assert result is None, "it ends with status 1"
    assert "1 of 3 calls failed: the endpoint rejected the call (400)" in said


def test_a_slow_down_is_said_once_and_waited_for(
    endpoint: Endpoint,
    server: ScriptedServer,
    quick: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> None:
    monkeypatch.setattr(run_states, "AT_LEAST", timedelta(seconds=0.2))
    settings.RUN_OUTAGE_WAIT = 3
    server.endpoint.faults = script_from([{"fault": "rate_limit", "times": 5}])
    result, said = run_model("--wait")
    assert result is not None
    assert (result["done"], result["failed"]) == (3, 0)
    told = [line for line in said.splitlines() if "is limiting the rate of calls (429)" in line]
    assert told
    assert len(set(told)) == len(told), "once for each time of a next try"
    assert "Waiting calls: 3. Next attempt at" in told[0]
    lines = said.splitlines()
    assert not any(one == other for one, other in pairwise(lines)), "no line twice in a row"


def test_a_reached_budget_is_a_result(endpoint: Endpoint) -> None:
    Endpoint.objects.update(price_output=1000)
    result, _said = run_model("--wait", "--budget", "0.01")
    assert result["done"] < result["planned"]
    assert Run.objects.get().pause_reason == "budget"
    refused, said = run_model("--budget", "1e5")
    assert refused is None
    assert "decimals, not 1e5" in said
    assert Run.objects.count() == 1


def dry(*options: str) -> Any:
    """The parameters of the first call of a dry run."""
    out = io.StringIO()
    given = ("--dry-run", "--dataset", "exam", "--limit", "1", *options)
    call_command("run_model", *given, "--format", "json", stdout=out)
    return json.loads(out.getvalue().splitlines()[0])["params"]


def test_a_dry_run_prints_each_call_and_plans_nothing(endpoint: Endpoint) -> None:
    out = io.StringIO()
    options = ("--dry-run", "--dataset", "exam", "--limit", "2", "--temperature", "0.3")
    call_command("run_model", *options, "--format", "json", stdout=out)
    calls = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [set(call) for call in calls] == [
        {"task", "external_id", "index", "step", "messages", "examples", "params"}
    ] * 2
    assert calls[0]["params"]["temperature"] == 0.3
    assert [message["role"] for message in calls[0]["messages"]] == ["system", "user"]
    assert not Run.objects.exists()
    said = (calls[0]["params"]["max_tokens"], calls[0]["params"]["max_tokens_of"])
    assert said == (2048, "a usual endpoint"), "no endpoint is named"
    Endpoint.objects.update(max_tokens=300)
    assert dry("--endpoint", "scripted") == {"temperature": 0.0, "top_p": 1.0, "max_tokens": 300}
    assert dry("--max-tokens", "9000")["max_tokens"] == 9000
    assert "no prompt set" in called("--dry-run", "--dataset", "exam", "--prompts", "none")[1]
    assert "--dataset is missing" in called("--dry-run")[1]
    assert "--endpoint is missing" in called("--dataset", "exam")[1]
    assert "no such run" in called("--resume", "7")[1]
