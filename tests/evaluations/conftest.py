"""Fixtures of runs: the scripted endpoint over HTTP, and retries without waits."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest
from django.db import connection
from django.test import override_settings

from evaluations.llm.breaker import BreakerLimits
from evaluations.llm.retry import RetryPolicy
from evaluations.models import Endpoint
from evaluations.runs.services import call_results, work_session
from tests.evaluations.run_world import scripted_endpoint
from tests.scripted_server import ScriptedServer


@pytest.fixture(autouse=True)
def key_hosts() -> Iterator[None]:
    """Let the variables of the tests be sent to the scripted endpoint."""
    names = ("ONE", "NOT_SET", "WRONG", "DEEPSEEK", "SOMEBODYS", "SENTINEL")
    allowed = [*(f"{name}_API_KEY" for name in names), "GRADEAPP_TEST_KEY"]
    with override_settings(KEY_HOSTS={name: ["127.0.0.1:*"] for name in allowed}):
        yield


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture
def endpoint(server: ScriptedServer, db: None) -> Endpoint:
    return scripted_endpoint(server, price_input=Decimal(4), price_output=Decimal(12))


@pytest.fixture
def postgresql(db: None) -> None:
    """SQLite has one writer at a time, and does not wait inside a transaction."""
    if connection.vendor != "postgresql":
        pytest.skip("needs PostgreSQL")


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_results, "COUNTED", RetryPolicy(attempts=4, first_wait=0.01))
    patient = RetryPolicy(attempts=10**6, rate_limit_attempts=10**6, first_wait=0.01)
    monkeypatch.setattr(call_results, "UNLIMITED_RETRIES", patient)
    monkeypatch.setattr(work_session, "BREAKER", BreakerLimits(first_wait=0.05))
