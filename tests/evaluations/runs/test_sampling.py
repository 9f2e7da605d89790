"""How replies are sampled: what is taken, what is refused, what is sent, what is stored."""

from __future__ import annotations

import io
import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command

from evaluations.conditions import Asking, Sampling
from evaluations.models import Attempt, Condition, Endpoint, Run
from evaluations.runs.forms.sampling import SamplingFields
from evaluations.runs.rules.sampling import (
    ALLOWED_EXTRA,
    FIELDS,
    BadSampling,
    SamplingLimits,
    most_completion_tokens,
    sampling_of,
    sent_params,
    temperature_presets,
)
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.runs import start_run
from evaluations.runs.services.sampling import SENTENCES
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in
from tests.evaluations.run_world import planned, worked
from tests.factories import make_dataset, make_question, make_task
from tests.scripted_server import ScriptedServer

LIMITS = SamplingLimits(max_tokens=512, max_temperature=1.0)
TYPED = {
    "temperature": " half ",
    "top_p": "0.9",
    "max_tokens": "100",
    "stop": "\\n\\n\nEND",
    "seed": "7",
    "reasoning_effort": "low",
    "extra": '{"top_k": 20, "min_p": 0.05}',
}
READ = Sampling(0.5, 0.9, 100, ("\n\n", "END"), 7, "low", {"top_k": 20, "min_p": 0.05})


def test_what_is_typed_is_what_is_sent() -> None:
    assert sampling_of(TYPED, LIMITS) == READ
    values = {**TYPED, "temperature": 0.5, "stop": ["\n\n", "END"], "extra": dict(READ.extra)}
    assert sampling_of(values, LIMITS) == READ, "values of JSON are read alike"
    assert sampling_of(dict.fromkeys(FIELDS, ""), LIMITS) == Sampling(0.0, 1.0, 512)
    assert sent_params(READ, max_completion_tokens=False) == {
        "temperature": 0.5,
        "top_p": 0.9,
        "max_tokens": 100,
        "stop": ["\n\n", "END"],
        "seed": 7,
        "reasoning_effort": "low",
        "top_k": 20,
        "min_p": 0.05,
    }
    other = sent_params(READ, max_completion_tokens=True)
    assert other["max_completion_tokens"] == 100
    assert "max_tokens" not in other
    assert temperature_presets(2.0) == (0.0, 0.3, 1.0)
    assert temperature_presets(0.6) == (0.0, 0.3)


@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        *(("temperature", bad, "temperature") for bad in ("1.1", -0.1, "hot", "１", "1e0", True)),
        *(("temperature", float(bad), "temperature") for bad in ("nan", "inf")),
        *(("top_p", bad, "top_p") for bad in ("0", "1.01", "-1", "x")),
        *(("max_tokens", bad, "max_tokens") for bad in ("0", "513", "1.5", "-5", 10**400)),
        *(("seed", bad, "seed") for bad in ("-1", "1.5", 2**31, "seed")),
        *(("stop", bad, "stop") for bad in (list("abcde"), ["x" * 101], [""], [1], {"a": 1})),
        ("reasoning_effort", "hard", "reasoning_effort"),
        *(("extra", bad, "extra_json") for bad in ("{", "[1]", "7", '{"top_k":1,"top_k":2}', 7)),
        *(
            ("extra", {bad: 1}, "extra_name")
            for bad in ("model", "messages", "stream", "tools", "n", "user", "temperature", "__x")
        ),
        *(("extra", {"top_k": bad}, "extra_value") for bad in ("20", 1.5, -1, True, None, [])),
        *(("extra", {"min_p": bad}, "extra_value") for bad in (float("nan"), 10**400)),
        ("extra", {"thinking": {"type": {"deep": 1}}}, "extra_value"),
        # No database stores these, and PostgreSQL says so by an error.
        ("extra", {"verbosity": "a\0b"}, "extra_value"),
        ("extra", {"chat_template_kwargs": {"a": "\ud800"}}, "extra_value"),
        ("extra", {"thinking": {"type": "x" * 1000}}, "extra_long"),
        ("extra", {"enable_thinking": True}, "thinking_unbounded"),
    ],
)
def test_what_is_refused_has_one_sentence(field: str, value: object, code: str) -> None:
    with pytest.raises(BadSampling) as caught:
        sampling_of({field: value}, LIMITS)
    assert (caught.value.field, caught.value.code) == (field, code)
    sentence = str(SENTENCES[code] % caught.value.values)
    assert sentence.endswith(".")
    assert "%(" not in sentence


def test_each_allowed_parameter_has_a_reason_and_takes_its_example() -> None:
    for name, one in ALLOWED_EXTRA.items():
        assert one.reason
        beside = {"thinking_budget": 100} if name == "enable_thinking" else {}
        assert sampling_of({"extra": {name: one.example, **beside}}, LIMITS).extra[name] is not None


def test_paid_reasoning_beside_the_answer_counts_as_possible() -> None:
    assert most_completion_tokens(READ) == 100
    paid = {"enable_thinking": True, "thinking_budget": 4000}
    assert most_completion_tokens(Sampling(max_tokens=100, extra=paid)) == 4100
    off = {"enable_thinking": False, "thinking_budget": 4000}
    assert most_completion_tokens(Sampling(max_tokens=100, extra=off)) == 100


@pytest.mark.django_db
def test_the_run_sends_and_stores_it(endpoint: Endpoint, server: ScriptedServer) -> None:
    Endpoint.objects.update(max_completion_tokens=True, max_temperature=1.0)
    endpoint.refresh_from_db()
    run = worked(planned(endpoint, 1, asking=Asking(sampling=READ)))
    assert run.status == "finished"
    sent = json.loads(server.requests[-1].body)
    expected = sent_params(READ, max_completion_tokens=True)
    assert {name: value for name, value in sent.items() if name in expected} == expected
    attempt = Attempt.objects.get()
    assert attempt.params == expected
    # 12 a million for at most 100 tokens of the reply; the prompt is bounded by its bytes.
    prompt = sum(len(message["content"].encode()) + 16 for message in sent["messages"])
    assert attempt.reserved == (Decimal(4) * prompt + Decimal(12) * 100) / 1_000_000
    assert run.condition is not None
    assert run.condition.settings["sampling"]["extra"] == {"top_k": 20, "min_p": 0.05}
    cost = estimate(
        endpoint=endpoint, dataset=run.dataset, repeats=1, asking=Asking(sampling=READ)
    ).answering
    assert cost.at_most == attempt.reserved


@pytest.mark.django_db
def test_two_samplings_are_two_conditions_and_the_endpoint_has_the_last_word(
    endpoint: Endpoint,
) -> None:
    first = planned(endpoint, 1)
    dataset = first.dataset
    asking = Asking(sampling=Sampling(temperature=0.3))
    second = start_run(endpoint=endpoint, dataset=dataset, acting_user=None, asking=asking)
    assert first.condition_id != second.condition_id
    assert Condition.objects.count() == 2
    for sampling in (Sampling(max_tokens=2049), Sampling(extra={"tools": []})):
        with pytest.raises(BadInput):
            start_run(
                endpoint=endpoint,
                dataset=dataset,
                acting_user=None,
                asking=Asking(sampling=sampling),
            )


@pytest.mark.django_db
def test_command_api_and_form_read_alike(admin: User, endpoint: Endpoint) -> None:
    make_question(make_task(make_dataset("exam")))
    options = ["--temperature", "half", "--top-p", "0.9", "--max-tokens", "100", "--seed", "7"]
    options += ["--stop", "\n\n", "--stop", "END", "--reasoning-effort", "low"]
    options += ["--extra", '{"top_k": 20, "min_p": 0.05}']
    target = ["--endpoint", "scripted", "--dataset", "exam"]
    call_command("run_model", *target, *options, stdout=io.StringIO())
    body: dict[str, Any] = {**TYPED, "stop": ["\n\n", "END"], "extra": dict(READ.extra)}
    client = logged_in(admin)
    given = {"endpoint": "scripted", "dataset": "exam", "start_anyway": True}
    address, as_json = "/api/v1/runs/", {"content_type": "application/json"}
    assert client.post(address, {**given, "sampling": body}, **as_json).status_code == 201
    first, second = Run.objects.order_by("pk")
    assert first.condition_id == second.condition_id, "one way to ask is one condition"
    assert first.run_settings["sampling"]["temperature"] == 1.0, "half of 2"
    form = SamplingFields(TYPED)
    assert form.is_valid()
    assert form.sampling(endpoint) == Sampling(1.0, 0.9, 100, ("\n\n", "END"), 7, "low", READ.extra)
    err = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("run_model", *target, "--extra", '{"tools": []}', stderr=err)
    refused = client.post(address, {**given, "sampling": {"extra": {"tools": []}}}, **as_json)
    assert (refused.status_code, refused.json()["field"]) == (400, "extra")
    assert refused.json()["detail"] == err.getvalue().strip()
    form = SamplingFields({"extra": '{"tools": []}'})
    assert form.is_valid()
    assert form.sampling(endpoint) is None
    assert form.errors["extra"] == [err.getvalue().strip()]
    unknown = client.post(address, {**given, "sampling": {"top_q": 1}}, **as_json)
    assert unknown.status_code == 400
    assert Run.objects.count() == 2
