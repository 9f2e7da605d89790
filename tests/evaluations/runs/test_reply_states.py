"""What replies are apart from their text, and what is kept of those that cannot be read."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils.html import escape

from evaluations.facts.params import ReportParams
from evaluations.models import Attempt, Endpoint, Response
from evaluations.reports.selectors.reports import build_report
from evaluations.runs.selectors.reply_states import reply_states
from evaluations.runs.selectors.runs import money
from gradeapp.accounts.models import User
from gradeapp.common.refusals import BadInput
from tests.conftest import logged_in
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import Completion, Fault, ScriptedServer, named_fault

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("quick_retries")]
BUSY = named_fault("html")


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    return scripted_endpoint(server, max_in_flight=1, timeout_seconds=5)


def in_order(server: ScriptedServer, *faults: Fault | None) -> None:
    """Let the server answer with *faults*, one for each call, and then as usual."""
    left = iter(faults)
    server.endpoint.faults = lambda prompt: next(left, None)


def twice(completion: Completion) -> Completion:
    return {**completion, "choices": [*completion["choices"], *completion["choices"]]}


def cut_off(completion: Completion) -> Completion:
    completion["choices"][0]["message"]["content"] = "Let me see. The first option"
    completion["choices"][0]["finish_reason"] = "length"
    return completion


def saying_no(completion: Completion) -> Completion:
    completion["choices"][0]["message"] |= {"content": None, "refusal": "Lieber nicht."}
    return completion


STATES = [
    (Fault(change=cut_off), "cut_off", 1, False),
    ("content_filter", "filtered", 1, False),
    (Fault(change=saying_no), "refused", 1, False),
    ("tool_calls", "tool_calls", 1, False),
    ("reasoning", "reasoning", 1, False),
    ("empty", "empty", 1, False),
    ("wrong_model", "complete", 1, True),
    (Fault(change=twice), "complete", 2, False),
    (None, "complete", 1, False),
]


def test_every_reply_has_its_state_and_the_pages_say_it(
    server: ScriptedServer, endpoint: Endpoint, admin: User
) -> None:
    """T115, T121, R23: none of them is an error, and none looks like a whole answer."""
    faults = [named_fault(one) if isinstance(one, str) else one for one, *_rest in STATES]
    in_order(server, *faults)
    run = worked(planned(endpoint, len(STATES)))
    assert run.status == "finished"
    found = Attempt.objects.order_by("pk").values_list("ending", "choices", "other_model")
    assert list(found) == [tuple(rest) for _fault, *rest in STATES]
    counts = {one.words: one.n for one in reply_states(run)}
    assert counts == {
        "Cut off": 1,
        "Stopped by a content filter": 1,
        "Refused": 1,
        "Tool calls instead of an answer": 1,
        "Reasoning without an answer": 1,
        "Empty": 1,
        "Another model than was asked: another-model": 1,
        "Several choices; the first one was used": 1,
    }
    page = logged_in(admin).get(reverse("runs:run", args=[run.pk])).text
    assert all(words in page for words in counts)
    filtered = Response.objects.get(attempt__ending="filtered")
    page = logged_in(admin).get(reverse("runs:response", args=[filtered.public_id])).text
    assert "Stopped by a content filter" in page
    assert "content_filter" not in page.partition(escape('"choices"'))[0], "in words above the raw"
    ledger = build_report("ledger", ReportParams("exam")).rows[0].figures
    counted = {name: figure.value for name, figure in ledger.items() if figure.value}
    assert (counted["refused"], counted["truncated"], counted["no_answer"]) == (2, 1, 3)


def test_what_came_instead_of_a_reply_is_kept_and_shown_to_operators_alone(
    server: ScriptedServer, endpoint: Endpoint, admin: User, lead: User
) -> None:
    """It was paid for, but it may be a page that not everybody may read."""
    in_order(server, BUSY, named_fault("no_choices"), Fault(body=b"\xff<b>x</b>" * 50_000))
    run = worked(planned(endpoint, 1))
    assert run.status == "finished"
    kept = list(Attempt.objects.order_by("pk").values_list("error", "body"))
    assert kept[0] == ("malformed", "<html><h1>Service busy</h1></html>")
    assert kept[1] == ("malformed", '{"choices": []}')
    assert kept[2][1] == ("\ufffd<b>x</b>" * 10_000)[: 2**16]
    assert kept[3][0] == ""
    response = Response.objects.get()
    pages = [
        reverse("runs:response", args=[response.public_id]),
        reverse("runs:run", args=[run.pk]),
    ]
    for page in pages:
        text = logged_in(admin).get(page).text
        assert "\ufffd&lt;b&gt;x" in text, page
        assert "<b>x</b>" not in text, page
        assert "b&gt;x" not in logged_in(lead).get(page).text, page
    assert "&lt;h1&gt;Service busy" in logged_in(admin).get(pages[0]).text


def test_a_failed_call_of_a_waiting_run_quotes_nothing_of_a_page(
    server: ScriptedServer, endpoint: Endpoint, lead: User
) -> None:
    server.endpoint.faults = lambda prompt: BUSY
    run = worked(planned(endpoint, 8))
    assert run.pause_reason == "broken_replies"
    text = logged_in(lead).get(reverse("runs:run", args=[run.pk])).text
    assert "the body is not JSON" in text
    assert "Service busy" not in text


def costing(cost: object, usage: dict[str, Any] | None = None) -> Fault:
    counts = {"prompt_tokens": 10, "completion_tokens": 5} if usage is None else usage
    return Fault(change=lambda completion: {**completion, "usage": {**counts, "cost": cost}})


def test_the_cost_that_replies_report_counts_where_the_endpoint_says_so(
    server: ScriptedServer, db: None
) -> None:
    """By prices a call costs 0.00002; the provider bills 0.004, as for a dearer route."""
    prices = {"price_input": Decimal(1), "price_output": Decimal(2), "currency": "USD"}
    plain = scripted_endpoint(server, name="plain", max_in_flight=1, max_tokens=100, **prices)
    told = scripted_endpoint(
        server, name="told", max_in_flight=1, max_tokens=100, cost_in_replies=True, **prices
    )
    server.endpoint.faults = lambda prompt: costing(0.004)
    run = worked(planned(plain, 1))
    assert money(run).spent == Decimal("0.00002"), "its currency is not known"
    assert Attempt.objects.get().reported_cost == Decimal("0.004")
    run = worked(planned(told, 20, budget=Decimal("0.02")))
    assert (run.status, run.pause_reason) == ("paused", "budget")
    assert Decimal("0.008") <= money(run).spent <= Decimal("0.02")
    assert run.committed == money(run).exposed * 10**8
    # Without counts of tokens, where it is more than was reserved.
    server.endpoint.faults = lambda prompt: costing(0.005, {})
    run = worked(planned(told, 1))
    attempt = Attempt.objects.filter(job__run=run)[0]
    assert (attempt.usage, attempt.cost) == ("reported", Decimal("0.005"))


@pytest.mark.parametrize("reported", [0, 0.00000001], ids=["zero", "fee"])
@pytest.mark.parametrize(
    ("usage", "cost"), [({"prompt_tokens": 10, "completion_tokens": 90}, 0.00019), ({}, None)]
)
def test_a_reported_cost_below_that_by_prices_passes_no_budget(
    server: ScriptedServer,
    db: None,
    reported: float,
    usage: dict[str, int],
    cost: float | None,
) -> None:
    """With a key of one's own OpenRouter reports its fee, or 0; so may whoever wants to."""
    prices = {"price_input": Decimal(1), "price_output": Decimal(2)}
    told = scripted_endpoint(
        server, max_in_flight=1, max_tokens=100, cost_in_replies=True, **prices
    )
    server.endpoint.faults = lambda prompt: costing(reported, usage)
    run = worked(planned(told, 8, budget=Decimal("0.001")))
    assert (run.status, run.pause_reason) == ("paused", "budget")
    attempt = Attempt.objects.filter(job__run=run)[0]
    expected = attempt.reserved if cost is None else Decimal(str(cost))
    assert (attempt.cost, attempt.reported_cost) == (expected, Decimal(str(reported)))


def test_costs_in_replies_need_prices_that_say_what_to_reserve(
    server: ScriptedServer, db: None
) -> None:
    with pytest.raises(BadInput, match="Enter the prices too"):
        scripted_endpoint(server, cost_in_replies=True)
