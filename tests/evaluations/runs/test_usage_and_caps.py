"""Usage as providers send it, exact sums, spending caps, and the same run twice."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.db.models import Sum
from django.test import Client
from django.urls import reverse

from evaluations.llm.budget import Budget, Price
from evaluations.llm.usage import Usage, read_usage
from evaluations.models import Attempt, Endpoint, Job, Run, Spending, SpendingCap
from evaluations.models.vocabulary import PauseReason
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import spending
from evaluations.runs.services.calls import call_for
from evaluations.runs.services.job_queue import claim_calls, prepare_calls
from evaluations.runs.services.run_estimates import estimate
from evaluations.runs.services.run_states import begin, pause, resume_waiting, wants_worker
from evaluations.runs.services.runs import pause_run, resume_run, start_run
from gradeapp.accounts.models import User
from gradeapp.common.database_clock import database_now
from gradeapp.common.exact_money import amount_of, exact_sum
from gradeapp.common.refusals import BadInput, Conflict, OtherRequest
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.evaluations.runs.batch_world import look
from tests.scripted_server import Fault, ScriptedServer

MOST = 2**31 - 1


@pytest.mark.parametrize(
    ("sent", "usage"),
    [
        # OpenAI: cached and reasoning are parts of the two counts.
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 50,
                "total_tokens": 150,
                "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 40, "audio_tokens": 2},
            },
            Usage(100, 50, cached=64, reasoning=40, audio=5, total=150),
        ),
        # DeepSeek and Moonshot name cached tokens in two other places.
        (
            {"prompt_tokens": 9, "completion_tokens": 1, "prompt_cache_hit_tokens": 8},
            Usage(9, 1, 8),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 1, "cached_tokens": 7}, Usage(9, 1, 7)),
        # xAI counts reasoning beside the completion, Gemini only in the total: both are billed.
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "total_tokens": 45,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(10, 35, reasoning=30, total=45),
        ),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 45},
            Usage(10, 35, total=45),
        ),
        (
            {
                "prompt_tokens": 10,
                "completion_tokens": 5,
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(10, 35, reasoning=30),
        ),
        # OpenRouter says what the call cost.
        (
            {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.00014},
            Usage(1, 1, cost="0.00014000"),
        ),
        (None, Usage()),
        ("many", Usage()),
        ({}, Usage()),
        ({"prompt_tokens": 3}, Usage(3)),
        (
            {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 9},
            Usage(10, 5, total=9, odd=True),
        ),
        ({"prompt_tokens": 10**12, "completion_tokens": 5}, Usage(None, 5, odd=True)),
        ({"prompt_tokens": -1, "completion_tokens": 5}, Usage(None, 5, odd=True)),
        ({"prompt_tokens": True, "completion_tokens": 5.5}, Usage(odd=True)),
        (
            {"prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": 2},
            Usage(1, 1, 2, odd=True),
        ),
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(0, 0, odd=True)),
        ({"prompt_tokens": 9, "completion_tokens": 0}, Usage(9, 0)),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": float("nan")}, Usage(1, 1)),
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": 1e30}, Usage(1, 1)),
        # Sums, and what is rounded, fit their columns too.
        ({"prompt_tokens": 1, "completion_tokens": 1, "cost": 999999.999999999}, Usage(1, 1)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 20,
                "completion_tokens_details": {"reasoning_tokens": MOST, "audio_tokens": MOST},
                "prompt_tokens_details": {"audio_tokens": MOST},
            },
            Usage(9, None, reasoning=MOST, odd=True),
        ),
    ],
)
def test_usage_in_the_forms_of_providers(sent: object, usage: Usage) -> None:
    assert read_usage(sent) == usage


def test_cached_tokens_have_their_own_price() -> None:
    # 36 x 2 + 64 x 0.5 + 50 x 8 = 504 millionths.
    assert Price(Decimal(2), Decimal(8), Decimal("0.5")).cost(100, 50, 64) == Decimal("0.000504")
    assert Price(Decimal(2), Decimal(8)).cost(100, 50, 64) == Decimal("0.0006")


def with_usage(usage: object) -> Fault:
    def change(completion: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in completion.items() if name != "usage"}
        return kept if usage is None else {**kept, "usage": usage}

    return Fault(change=change)


@pytest.fixture
def priced(server: ScriptedServer, db: None) -> Endpoint:
    prices = {"price_input": Decimal(1), "price_output": Decimal(2)}
    return scripted_endpoint(server, max_in_flight=1, max_tokens=100, **prices)


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": 5, "completion_tokens": 0, "total_tokens": 5},
    ],
)
def test_an_answer_of_no_tokens_costs_its_reservation(
    usage: dict[str, int], server: ScriptedServer, priced: Endpoint
) -> None:
    """Otherwise an endpoint that counts nothing passes every budget."""
    server.endpoint.faults = lambda prompt: with_usage(usage)
    first = Attempt.objects.filter(job__run=worked(planned(priced, 2))).first()
    assert first is not None
    assert (first.usage, first.cost) == ("odd", first.reserved)


def test_an_answer_without_usage_costs_its_reservation(
    server: ScriptedServer, priced: Endpoint
) -> None:
    sent = iter([None, {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 3}])
    server.endpoint.faults = lambda prompt: with_usage(
        next(sent, {"prompt_tokens": 40, "completion_tokens": 7, "total_tokens": 60})
    )
    run = worked(planned(priced, 3))
    first, odd, third = Attempt.objects.filter(job__run=run).order_by("pk")
    assert (first.usage, first.cost) == ("missing", first.reserved)
    assert (odd.usage, odd.cost, odd.total_tokens) == ("odd", odd.reserved, 3)
    # 40 x 1 + 20 x 2 millionths: the reasoning in the total is billed.
    assert (third.usage, third.cost) == ("complete", Decimal("0.00008"))
    assert money(run).spent == first.cost + odd.cost + third.cost
    assert Spending.objects.get().amount == money(run).spent


@pytest.mark.parametrize(
    ("said", "usage"),
    [
        ({"prompt_tokens": 50, "completion_tokens": 90_000_000}, "odd"),
        ({"prompt_tokens": 90_000_000, "completion_tokens": 5}, "odd"),
        ({"prompt_tokens": 50, "completion_tokens": 5, "cost": 900_000}, "odd"),
        # An endpoint that ignores max_tokens is believed.
        ({"prompt_tokens": 50, "completion_tokens": 16_000}, "complete"),
    ],
    ids=["completion", "prompt", "cost", "possible"],
)
def test_one_reply_does_not_use_up_the_cap_of_all_runs(
    server: ScriptedServer, priced: Endpoint, admin: User, said: dict[str, int], usage: str
) -> None:
    """At most 4 x 100 + 16,384 tokens of the reply count, and 4 x prompt + 16,384."""
    Endpoint.objects.update(price_input=10, price_output=10, cost_in_replies=True)
    priced.refresh_from_db()
    spending.save_cap(currency="CNY", per_month=None, in_total=Decimal(500), acting_user=admin)
    server.endpoint.faults = lambda prompt: with_usage(said)
    run = worked(planned(priced, 2))
    first = Attempt.objects.filter(job__run=run)[0]
    assert first.usage == usage
    assert Decimal("0.16") < first.cost < Decimal("0.36")
    assert Spending.objects.get().amount == money(run).spent < 1
    server.endpoint.faults = lambda prompt: None
    honest = scripted_endpoint(server, name="honest", price_input=Decimal(10))
    assert worked(planned(honest, 2)).status == "finished"


@pytest.mark.django_db
def test_sums_of_money_are_exact(priced: Endpoint) -> None:
    """0.1 + 0.2 a thousand times is 300 exactly, on SQLite too, where decimals are floats."""
    run = planned(priced, 1)
    job = Job.objects.get(run=run)
    costs = [Decimal("0.1"), Decimal("0.2"), Decimal("0.00000001")] * 1000
    Attempt.objects.bulk_create(
        Attempt(job=job, number=n, fence=n, status="answered", sent_at=run.created_at, cost=cost)
        for n, cost in enumerate(costs, 1)
    )
    assert money(run).spent == Decimal("300.00001")
    sums = Attempt.objects.aggregate(units=exact_sum("cost"), n=Sum("number"))
    assert amount_of(sums["units"]) == Decimal("300.00001")


def test_the_budget_holds_though_the_endpoint_ignores_max_tokens(
    server: ScriptedServer, priced: Endpoint
) -> None:
    """Each call writes 5,000 tokens instead of 100: after the first, so much is reserved."""
    server.endpoint.faults = lambda prompt: with_usage(
        {"prompt_tokens": 50, "completion_tokens": 5000}
    )
    run = worked(planned(priced, 20, budget=Decimal("0.05")))
    assert (run.status, run.pause_reason) == ("paused", "budget")
    # A call costs 0.01005: four of them fit into 0.05.
    assert money(run).spent <= Decimal("0.05")
    assert server.ledger.billed >= 2


def test_a_cap_holds_for_all_runs_and_says_so(
    server: ScriptedServer, priced: Endpoint, admin: User
) -> None:
    spending.save_cap(currency="CNY", per_month=Decimal("0.002"), in_total=None, acting_user=admin)
    run, other = planned(priced, 30), None
    other = start_run(endpoint=priced, dataset=run.dataset, acting_user=None)
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "spending_cap")
    worked(other)
    assert (other.status, other.pause_reason) == ("paused", "spending_cap")
    spent = Spending.objects.get()
    assert Decimal(0) < spent.amount <= Decimal("0.002")
    assert spent.amount == money(run).exposed + money(other).exposed
    # A call in another currency has nothing to do with it.
    yen = scripted_endpoint(server, name="yen", currency="JPY", price_input=Decimal(9))
    assert worked(planned(yen, 2)).status == "finished"
    # At the cap nothing is started.
    SpendingCap.objects.update(per_month=spent.amount)
    with pytest.raises(BadInput, match="spending cap for CNY"):
        resume_run(run, acting_user=None)
    # A cap on all months counts earlier ones.
    Spending.objects.create(currency="CNY", period="2020-01", committed=10**8)
    spending.save_cap(currency="CNY", per_month=None, in_total=Decimal(2), acting_user=admin)
    assert worked(resume_run(run, acting_user=None)).status == "finished"
    cny, jpy = spending.spent(database_now())
    assert (cny.currency, cny.total - cny.month, jpy.currency) == ("CNY", 1, "JPY")
    with pytest.raises(BadInput):
        spending.save_cap(currency="CNY", per_month=Decimal(-1), in_total=None, acting_user=admin)


@pytest.mark.parametrize("how", ["live", "batch"])
def test_a_cap_is_the_reason_also_where_a_budget_is_nearer_its_end(
    priced: Endpoint, admin: User, how: str
) -> None:
    """The cap is below one call, the budget below the calls that go out together."""
    priced.max_in_flight = 8
    priced.save()
    cap = {"per_month": Decimal("0.0001"), "in_total": None}
    spending.save_cap(currency="CNY", **cap, acting_user=admin)
    run = planned(priced, 12, budget=Decimal("0.003"), batch_api=how == "batch")
    run = look(run) if how == "batch" else worked(run)
    assert (run.status, run.pause_reason) == ("paused", "spending_cap")
    assert run.committed == 0
    SpendingCap.objects.update(per_month=Decimal(1))
    assert resume_run(run, acting_user=admin).status == "queued"


@pytest.mark.parametrize(
    ("reason", "kept"),
    [("spending_cap", ""), ("study_budget", ""), ("endpoint_down", "endpoint_down")],
)
def test_a_run_that_goes_on_after_a_cap_has_no_reason(
    priced: Endpoint, admin: User, reason: str, kept: str
) -> None:
    """The reason of an outage stays: a single call is tried first, by one worker."""
    run, now = planned(priced, 12), database_now()
    begin(run.pk, "one", now)
    pause(run, PauseReason(reason), resume_at=now)
    resume_waiting(now)
    client = Client()
    client.force_login(admin)
    body = client.get(reverse("api-run", args=[run.pk])).json()
    assert (body["status"], body["pause_reason"]) == ("queued", kept)
    Endpoint.objects.update(max_in_flight=2)
    assert wants_worker(Run.objects.get(), now) is (not kept)


def test_a_price_of_cached_tokens_alone_is_reserved_and_capped(
    server: ScriptedServer, priced: Endpoint, admin: User
) -> None:
    """Such an endpoint is not saved any more, but may be stored."""
    Endpoint.objects.update(price_input=0, price_output=0, price_cached=1000)
    priced.refresh_from_db()
    spending.save_cap(currency="CNY", per_month=None, in_total=Decimal(3), acting_user=admin)
    usage = {"prompt_tokens": 90, "completion_tokens": 1, "cached_tokens": 90}
    server.endpoint.faults = lambda prompt: with_usage(usage)
    run = planned(priced, 30, budget=Decimal(2))
    made = estimate(endpoint=priced, dataset=run.dataset, repeats=1).answering
    assert made.at_most > 3, "so that the start asks for the password"
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "budget")
    assert Decimal("0.9") <= money(run).spent <= Decimal(2)
    made = estimate(endpoint=priced, dataset=run.dataset, repeats=1).answering
    assert made.expected == pytest.approx(Decimal("2.7"), rel=Decimal("0.1")), "all was cached"
    Spending.objects.update(committed=3 * 10**8)
    with pytest.raises(BadInput, match="spending cap for CNY"):
        start_run(endpoint=priced, dataset=run.dataset, acting_user=None)


def test_the_same_run_is_started_once(priced: Endpoint) -> None:
    run = planned(priced, 2)
    asked = {"endpoint": priced, "dataset": run.dataset, "acting_user": None}
    assert run.idempotency_key, "every run has one"
    with pytest.raises(Conflict, match=f"Run {run.pk} asks the same") as refused:
        start_run(**asked, unless_running=True)
    assert (refused.value.code, refused.value.details) == ("same_run", {"run": run.pk})
    assert start_run(**asked, unless_running=True, repeats=2).pk != run.pk, "another plan"
    Run.objects.update(status="finished")
    again = start_run(**asked, unless_running=True, idempotency_key="k")
    assert start_run(**asked, idempotency_key="k") == again
    with pytest.raises(OtherRequest):
        start_run(**asked, idempotency_key="k", budget=Decimal(1))


def test_a_key_with_another_body_is_unprocessable(priced: Endpoint, admin: User) -> None:
    run = planned(priced, 2)
    Run.objects.update(status="stopped")

    client = Client()
    client.force_login(admin)

    def post(**body: object) -> Any:
        body = {"endpoint": priced.name, "dataset": run.dataset.slug, **body}
        return client.post(reverse("api-runs"), json.dumps(body), content_type="application/json")

    made = post(idempotency_key="k")
    assert made.status_code == 201
    assert post(idempotency_key="k").json()["id"] == made.json()["id"]
    assert post(idempotency_key="k", repeats=2).status_code == 422
    assert post().status_code == 409, "it is not over"
    assert post(start_anyway=True).status_code == 201


def test_a_pause_keeps_the_place_of_a_run(priced: Endpoint) -> None:
    run = planned(priced, 2)
    assert pause_run(run, acting_user=None).pause_reason == "by_person"
    assert worked(run).status == "paused"
    with pytest.raises(Conflict):
        pause_run(run, acting_user=None)
    with pytest.raises(Conflict, match="same questions"):
        start_run(endpoint=priced, dataset=run.dataset, acting_user=None, unless_running=True)
    assert worked(resume_run(run, acting_user=None)).status == "finished"


def test_workers_of_a_run_share_its_budget(priced: Endpoint) -> None:
    """Each worker knows only its own calls; the run's row knows all."""
    run = planned(priced, 6)
    now = database_now()
    calls = list(prepare_calls(run, 6, now, prepare=partial(call_for, run)).items())
    most = calls[0][1].most
    Run.objects.filter(pk=run.pk).update(budget=most * 3)
    run.refresh_from_db()
    first = claim_calls(run, "a", dict(calls[:2]), now, budget=Budget(run.budget))
    second = claim_calls(run, "b", dict(calls[2:]), now, budget=Budget(run.budget))
    assert (len(first.calls), first.over_budget) == (2, False)
    assert (len(second.calls), second.over_budget) == (1, True)
    run.refresh_from_db()
    assert amount_of(run.committed) == money(run).exposed == most * 3
