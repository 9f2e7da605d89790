"""Prices that are entered after runs have begun: budgets and caps bound what is still to be called.

An item costs 0.1 at most: the only price is 100,000 for a million tokens of the reply, which
has one token at most.
"""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluations.conditions import Asking
from evaluations.models import Endpoint, Run, Spending, Study
from evaluations.runs.selectors.runs import money
from evaluations.runs.services import spending
from evaluations.runs.services.frozen import take_prices
from evaluations.runs.services.generation import work_on_run
from evaluations.runs.services.run_estimates import most_cost_of_resume
from evaluations.runs.services.runs import pause_run, resume_run, stop_run
from evaluations.runs.services.sampling import sampling_for
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.evaluations.runs.batch_world import look
from tests.scripted_server import Fault, ScriptedServer

pytestmark = pytest.mark.django_db(transaction=True)
ITEMS, ONE = 8, Decimal("0.1")


def one_token(completion: dict[str, Any]) -> dict[str, Any]:
    return {**completion, "usage": {"prompt_tokens": 20, "completion_tokens": 1}}


@pytest.fixture
def free(server: ScriptedServer, db: None) -> Endpoint:
    server.endpoint.faults = lambda prompt: Fault(change=one_token)
    return scripted_endpoint(server, max_in_flight=1)


def begun(free: Endpoint, **options: Any) -> Run:
    asking = Asking(sampling=sampling_for(free, {"max_tokens": "1"}))
    return planned(free, ITEMS, asking=asking, **options)


def enter_prices(**fields: object) -> None:
    Endpoint.objects.update(**{"price_output": 100_000, **fields})


def work_and_enter_prices(run: Run, server: ScriptedServer) -> Run:
    """Work on *run* for one session, and enter the prices while it makes its first calls."""
    called: list[str] = []

    def answer(prompt: str) -> Fault:
        called.append(prompt)
        return Fault(change=one_token, delay=0.3)

    def clock() -> datetime:
        if called:
            enter_prices()
        return timezone.now()

    server.endpoint.faults = answer
    work_on_run(run.pk, clock=clock)
    run.refresh_from_db()
    assert run.status == "running", "the work session has ended; the next one goes by the prices"
    return run


def test_a_budget_holds_from_the_resume_on(free: Endpoint, admin: User) -> None:
    run = stop_run(begun(free), acting_user=None)
    enter_prices()
    client = Client()
    client.force_login(admin)
    address = reverse("api-run-resume", args=[run.pk])
    resumed = client.post(address, json.dumps({"budget": "0.25"}), content_type="application/json")
    assert resumed.status_code == 200
    worked(run)
    assert (run.status, run.pause_reason) == ("paused", "budget")
    assert money(run).spent == Decimal("0.2"), "a third call would pass 0.25"
    taken = AuditEntry.objects.get(tag="run.prices")
    assert (taken.detail["price_output"], taken.detail["currency"]) == ("100000.000000", "CNY")
    enter_prices(price_output=1)
    worked(resume_run(run, acting_user=None, budget=Decimal("0.35")))
    assert money(run).spent == Decimal("0.3"), "prices that a run has stay"


def test_a_cap_holds_for_a_run_in_progress(free: Endpoint, server: ScriptedServer) -> None:
    spending.save_cap(currency="CNY", per_month=Decimal("0.25"), in_total=None, acting_user=None)
    run = begun(free)
    worked(work_and_enter_prices(run, server))
    assert (run.status, run.pause_reason) == ("paused", "spending_cap")
    assert Spending.objects.get().amount == money(run).exposed == Decimal("0.2")


def test_the_password_is_asked_for_by_the_prices_it_will_take(free: Endpoint) -> None:
    run = begun(free)
    assert most_cost_of_resume(stop_run(run, acting_user=None), None) == 0
    enter_prices()
    run.refresh_from_db()
    assert most_cost_of_resume(run, None) == ITEMS * ONE


def test_the_calls_of_a_run_that_has_called_are_counted_too(
    free: Endpoint, server: ScriptedServer
) -> None:
    run = begun(free)
    done = work_and_enter_prices(run, server).responses.count()
    assert 0 < done < ITEMS
    pause_run(run, acting_user=None)
    run = Run.objects.get()
    assert most_cost_of_resume(run, None) == (ITEMS - done) * ONE


def test_batches_take_half_of_the_prices(free: Endpoint) -> None:
    run = begun(free, batch_api=True, budget=Decimal("0.175"))
    enter_prices()
    look(run)
    assert run.run_settings["price_output"] == "50000.000000"
    assert run.committed == 15_000_000, "three calls of 0.05 in units of 10^-8"


def test_a_study_keeps_its_currency(free: Endpoint) -> None:
    run = begun(free)
    run.study = Study.objects.create(name="s", dataset=run.dataset, currency="CNY")
    run.save()
    enter_prices(currency="USD")
    run = Run.objects.get()
    before = run.run_settings
    take_prices(run)
    assert run.run_settings == before
