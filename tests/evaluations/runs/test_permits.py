"""The limits of a provider account hold across runs, workers, processes and clocks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import Sum

from evaluations.llm.client import CallResult, ChatFailure, FailureKind
from evaluations.llm.rate_headers import RateReport, rate_report
from evaluations.llm.replies import read_reply
from evaluations.models import Attempt, Endpoint, PermitLease, ProviderAccount, Response, Run
from evaluations.runs.rules.permits import (
    Bucket,
    Holder,
    InFlightLimits,
    calls_left,
    fair_shares,
    most_free,
    target_of,
)
from evaluations.runs.services import permits as services
from evaluations.runs.services.accounts import end_wait
from evaluations.runs.services.permits import Permits
from evaluations.runs.services.runs import start_run
from gradeapp.common.database_clock import DatabaseClock, database_now
from tests.evaluations.run_world import planned, scripted_endpoint, worked
from tests.scripted_server import Fault, ScriptedServer
from tests.worker_processes import database_url, kill, wait_until

ROOT = Path(__file__).resolve().parent.parent.parent.parent
T = datetime(2026, 1, 1, tzinfo=UTC)


def test_shares_are_max_min_fair() -> None:
    assert fair_shares({"a": 64, "b": 64}, 64) == {"a": 32, "b": 32}
    # b wants 4, so 60 are left for two: 30 each.
    assert fair_shares({"a": 64, "b": 4, "c": 40}, 64) == {"a": 30, "b": 4, "c": 30}
    # 7 among three: 2 each, and the turn goes round with the one that is left.
    assert [fair_shares({"a": 9, "b": 9, "c": 9}, 7, turn)["b"] for turn in range(3)] == [2, 3, 2]
    assert fair_shares({"a": 9, "b": 9}, 1, 0) == {"a": 1, "b": 0}
    assert fair_shares({"a": 9, "b": 9}, 1, 1) == {"a": 0, "b": 1}
    assert fair_shares({"a": 0}, 5) == {"a": 0}
    holders = [Holder("a", 1, 6, 8), Holder("b", 1, 0, 8), Holder("c", 2, 0, 3)]
    limits = InFlightLimits(10, {1: 8, 2: 8})
    # The endpoint of a and b gives each 4 of 8, and c wants 3: 4 + 4 + 3 = 11 of 10 are wanted.
    assert sum(target_of(one.name, holders, limits, T) for one in holders) == 10
    assert most_free("b", holders, limits) == 2, "a has not given back its six of eight"
    assert most_free("c", holders, limits) == 4


def test_a_bucket_gives_out_no_more_than_its_limit_in_a_minute() -> None:
    bucket = Bucket(60, 6.0, T)  # a tenth at once, then 54 in 60 s
    assert bucket.refilled(T + timedelta(hours=1)).left == 6
    used = Bucket(60, 0.0, T)
    assert used.refilled(T + timedelta(seconds=5)).left == pytest.approx(4.5)
    assert used.refilled(T - timedelta(seconds=5)).left == 0
    assert calls_left(50, (6.9, None), (None, None), 1000) == 6
    assert calls_left(50, (None, None), (2500.0, None), 1000) == 2
    assert calls_left(50, (None, None), (100.0, None), 1000) == 1, "a long call must be possible"
    assert calls_left(50, (None, None), (-3.0, None), 1000) == 0


@pytest.mark.parametrize(
    ("headers", "report"),
    [
        ({"requests": ("7", "1m30s")}, RateReport(7, 90.0)),
        ({"requests": ("0", "120ms"), "tokens": ("9", "2h")}, RateReport(0, 0.12, 9, 3600.0)),
        ({"tokens": ("149984", "6.5")}, RateReport(tokens=149984, tokens_reset=6.5)),
        ({"requests": ("7", "")}, None),
        ({"requests": ("-1", "1s")}, None),
        ({"requests": ("1" * 5000, "1s")}, None),
        ({"requests": ("1", "soon")}, None),
    ],
)
def test_headers_of_rate_limits(
    headers: dict[str, tuple[str, str]], report: RateReport | None
) -> None:
    flat = {f"x-ratelimit-remaining-{name}": left for name, (left, _reset) in headers.items()}
    flat |= {f"x-ratelimit-reset-{name}": reset for name, (_left, reset) in headers.items()}
    assert rate_report(flat) == report


@pytest.fixture
def account(endpoint: Endpoint) -> ProviderAccount:
    account = services.account_of(endpoint)
    ProviderAccount.objects.filter(pk=account.pk).update(max_in_flight=10)
    Endpoint.objects.update(max_in_flight=64)
    endpoint.refresh_from_db()
    return account


def ask_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "LOOK_EVERY", 0.0)


@pytest.mark.django_db
def test_no_sequence_of_takes_exceeds_the_limit(
    account: ProviderAccount, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers join, take, finish calls, end and die at random: all in flight stay below ten."""
    ask_at_once(monkeypatch)
    other = scripted_endpoint(SimpleNamespace(base_url=endpoint.base_url), name="b", model="b")
    Endpoint.objects.filter(pk=other.pk).update(account=account, max_in_flight=3)
    other.refresh_from_db()
    random = Random(16)
    now = [T]
    living: dict[Permits, int] = {}
    most = {"all": 0, "b": 0}
    for step in range(300):
        now[0] += timedelta(seconds=random.random())
        what = random.random()
        if what < 0.1 and len(living) < 6:
            one = Permits(random.choice([endpoint, other]), f"w{step}", 64)
            one.clock = lambda: now[0]  # type: ignore[assignment]
            living[one] = 0
        elif living:
            one = random.choice(list(living))
            if what < 0.13:
                del living[one]  # killed: its calls end with it, its permits with their lease
            elif what < 0.16:
                one.release()
                del living[one]
            elif what < 0.6:
                n = random.randint(1, 12)
                taken = one.take(n, living[one])
                claimed = taken if random.random() < 0.8 else random.randint(0, taken)
                one.used(taken, claimed)
                living[one] += claimed
            else:
                living[one] -= random.randint(0, living[one])
        for one in living:
            one.keep(living[one])
        in_flight = sum(living.values())
        held = PermitLease.objects.filter(until__gt=now[0]).aggregate(n=Sum("permits"))["n"] or 0
        assert in_flight <= held <= 10
        at_b = sum(n for one, n in living.items() if one.endpoint == other)
        assert at_b <= 3
        most = {"all": max(most["all"], in_flight), "b": max(most["b"], at_b)}
    assert (most["all"] >= 9, most["b"] >= 2) == (True, True), "the limits are used"


@pytest.mark.django_db
def test_limits_per_minute_waits_and_reports_are_shared(
    account: ProviderAccount, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_at_once(monkeypatch)
    ProviderAccount.objects.update(max_in_flight=None, requests_per_minute=60)
    Endpoint.objects.update(max_in_flight=200)
    endpoint.refresh_from_db()
    now = [T]
    first, second = (Permits(endpoint, name, 64) for name in "ab")
    first.clock = second.clock = lambda: now[0]  # type: ignore[assignment]
    # A tenth of sixty at once, for both together; then 0.9 a second.
    assert [first.take(4, 0), second.take(64, 0)] == [4, 2]
    assert first.take(4, 0) == 0
    first.used(0, 0)
    now[0] += timedelta(seconds=2)
    assert second.take(64, 2) == 1, "1.8 more"
    second.used(1, 0)
    assert first.take(64, 0) == 1, "what was not used is there for the other"
    # The endpoint asks one worker to wait: nobody calls before.
    refused = ChatFailure(FailureKind.RATE_LIMIT, retry_after=30.0)
    first.note([CallResult(1, refused, 0.1)], [(refused, now[0])])
    now[0] += timedelta(seconds=29)
    assert second.take(5, 0) == 0
    now[0] += timedelta(seconds=2)
    assert second.take(5, 0) == 1, "it had less to do than it might"
    second.used(1, 1)
    assert second.take(5, 1) == 5
    # Three calls are left for ten seconds, says a response.
    body = b'{"choices": [{"message": {"content": "x"}}]}'
    reply = read_reply(body)
    ProviderAccount.objects.update(requests_per_minute=None)
    reported = RateReport(requests=3, requests_reset=10.0)
    second.note([CallResult(2, type(reply)(**{**vars_of(reply), "rate": reported}), 0.1)])
    assert [first.take(2, 0), second.take(9, 0)] == [2, 1]
    now[0] += timedelta(seconds=11)
    assert second.take(9, 0) == 9


@pytest.mark.django_db
def test_a_call_in_flight_does_not_bring_back_a_wait_that_was_ended(
    account: ProviderAccount, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was sent before an admin ended the wait, and comes back with the same week."""
    ask_at_once(monkeypatch)
    one = Permits(endpoint, "a", 64)
    assert one.take(1, 0) == 1
    sent = database_now()
    asked = ChatFailure(FailureKind.RATE_LIMIT, retry_after=7 * 86_400.0)
    results = [CallResult(1, asked, 0.1)]
    one.note(results, [(asked, sent)])
    assert one.take(1, 0) == 0
    end_wait(account, acting_user=None)
    one.note(results, [(asked, sent)])
    assert one.take(1, 0) == 1
    # A call that is sent after that is asked to wait: this is news.
    one.note(results, [(asked, database_now())])
    assert one.take(1, 0) == 0


def vars_of(reply: Any) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in reply.__slots__}


@pytest.mark.django_db
def test_tokens_of_a_minute_are_corrected_by_what_calls_used(
    account: ProviderAccount, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask_at_once(monkeypatch)
    ProviderAccount.objects.update(max_in_flight=None, tokens_per_minute=60_000)
    one = Permits(endpoint, "a", 64)
    one.clock = lambda: T  # type: ignore[assignment]
    # 6,000 tokens at once; a call is estimated at 2,048 + 500.
    assert one.take(64, 0) == 2
    body = b'{"choices": [{"message": {}}], "usage": {"prompt_tokens": 40, "completion_tokens": 8}}'
    one.note([CallResult(1, read_reply(body), 0.1), CallResult(2, read_reply(body), 0.1)])
    assert ProviderAccount.objects.get().tokens_left == pytest.approx(6000 - 2 * 48)
    # A reply that lies does not stop the other endpoints of the account for a day.
    assert one.take(1, 0) == 1
    lie = read_reply(body.replace(b"40", b"90000000"))
    one.note([CallResult(3, lie, 0.1)])
    assert ProviderAccount.objects.get().tokens_left > 4 * -60_000


WORKER = """
import os, time
from datetime import timedelta
import django
django.setup()
from django.utils import timezone

if ahead := os.environ.get("HOURS_AHEAD"):
    here = timezone.now
    timezone.now = lambda: here() + timedelta(hours=int(ahead))

from evaluations.models import Run
from evaluations.runs.services import generation

while open_runs := list(Run.objects.exclude(status="finished").values_list("pk", flat=True)):
    for run in open_runs:
        generation.work_on_run(run)
        generation.look_for_work()
    time.sleep(0.1)
"""


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Any]:
    started: list[subprocess.Popen[bytes]] = []

    def start(**environment: str) -> subprocess.Popen[bytes]:
        own = {
            "DATABASE_URL": database_url(),
            "GRADEAPP_VAR": str(tmp_path / "var"),
            "DJANGO_SETTINGS_MODULE": "gradeapp.settings",
            "RUN_LEASE_SECONDS": "5",
        }
        command = [sys.executable, "-c", WORKER]
        started.append(
            subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **own, **environment}, start_new_session=True
            )
        )
        return started[-1]

    yield start
    for process in started:
        kill(process)


@pytest.mark.django_db(transaction=True)
def test_the_endpoint_never_has_more_calls_than_the_account_allows(workers: Any) -> None:
    """Two runs of two endpoints share an account; workers join, one dies, one is an hour ahead."""
    with ScriptedServer(latency=0.3) as server:
        first = scripted_endpoint(server, max_in_flight=64)
        second = scripted_endpoint(server, name="second", max_in_flight=64)
        shared = services.account_of(first)
        ProviderAccount.objects.filter(pk=shared.pk).update(max_in_flight=64)
        Endpoint.objects.update(account=shared)
        run = planned(first, 500)
        other = start_run(endpoint=second, dataset=run.dataset, acting_user=None)
        dies = workers()
        wait_until(lambda: server.ledger.billed > 30, 60)
        workers(HOURS_AHEAD="1")
        workers(HOURS_AHEAD="-1")
        wait_until(lambda: Response.objects.filter(run=other).exists(), 60)
        wait_until(lambda: server.ledger.billed > 300, 60)
        os.killpg(dies.pid, signal.SIGKILL)
        dies.wait()
        wait_until(lambda: not Run.objects.exclude(status="finished").exists(), 120)
        assert server.endpoint.most_in_flight <= 64
        assert server.endpoint.most_in_flight > 48, "the limit is used"
        assert Response.objects.count() == 1000
        lost = Attempt.objects.filter(error="worker_lost").count()
        assert lost <= 64, "what was in flight; answers that had arrived were in a file"
        assert server.ledger.billed <= 1000 + lost, "nothing is asked twice but what was lost"
        wait_until(lambda: not PermitLease.objects.filter(until__gt=database_now()).exists(), 60)


@pytest.mark.django_db
def test_runs_of_an_account_share_it_and_a_lease_that_ends_comes_back(
    server: ScriptedServer, account: ProviderAccount, endpoint: Endpoint
) -> None:
    server.endpoint.latency = 0.05
    PermitLease.objects.create(
        account=account,
        endpoint=endpoint,
        holder="another worker",
        permits=7,
        wanted=64,
        until=database_now() + timedelta(minutes=5),
    )
    run = worked(planned(endpoint, 12))
    assert run.status == "finished"
    assert server.endpoint.most_in_flight <= 3, "seven of ten are held by the other"
    PermitLease.objects.update(until=database_now() - timedelta(seconds=1))
    worked(planned(endpoint, 40))
    assert server.endpoint.most_in_flight == 10
    assert not PermitLease.objects.exists()


@pytest.mark.django_db
def test_the_clock_of_the_database_is_read_again_and_counted_on() -> None:
    seconds = [0.0]
    clock = DatabaseClock(lambda: seconds[0])
    start = clock()
    assert abs((start - datetime.now(UTC)).total_seconds()) < 60
    seconds[0] = 3.0
    assert clock() - start == timedelta(seconds=3)
    seconds[0] = 3600.0
    assert clock() - start < timedelta(minutes=30), "read from the database again"


@pytest.mark.django_db
def test_a_response_that_says_that_little_is_left_slows_all_workers(
    server: ScriptedServer, endpoint: Endpoint
) -> None:
    said = (("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "1s"))
    faults = iter([Fault(headers=said)])
    server.endpoint.faults = lambda prompt: next(faults, None)
    Endpoint.objects.update(max_in_flight=1)
    started = time.monotonic()
    assert worked(planned(endpoint, 3)).status == "finished"
    assert time.monotonic() - started >= 0.9, "nothing was sent before the reset"
