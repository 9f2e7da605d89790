"""Freeze the settings of a run at its start: prompt settings, address and prices."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluations.conditions import (
    ConditionSettings,
    RequestSettings,
    Sampling,
    fingerprint,
    read_sampling,
)
from evaluations.llm.budget import Price
from evaluations.models import Endpoint, Run
from evaluations.runs.rules.demo_endpoints import is_its_next_port
from gradeapp.audit.record import record
from gradeapp.audit.tags import Tag

# Where the calls of a run go, with which key and at which prices: columns of a query of runs.
SENT_TO = (
    *("endpoint__base_url", "endpoint__model"),
    *("endpoint__key_variable", "endpoint__stored_key"),
    *("endpoint__price_input", "endpoint__price_output", "endpoint__price_cached"),
)


@dataclass(frozen=True)
class Frozen:
    """``settings`` as stored with the run, and the ``fingerprint`` of the prompt settings."""

    settings: dict[str, Any]
    fingerprint: str


def freeze(settings: RequestSettings | ConditionSettings, endpoint: Endpoint) -> Frozen:
    """Freeze *settings* with the model, address and prices of *endpoint*."""
    facts = {"model": endpoint.model, "base_url": endpoint.base_url, **_prices_as_json(endpoint)}
    asked = settings.as_dict()
    return Frozen({**facts, **asked}, fingerprint(asked))


def _prices_as_json(endpoint: Endpoint) -> dict[str, Any]:
    """Return the part of frozen settings that says what calls of *endpoint* cost."""
    return {
        "price_input": str(endpoint.price_input),
        "price_output": str(endpoint.price_output),
        "price_cached": None if endpoint.price_cached is None else str(endpoint.price_cached),
        "currency": endpoint.currency,
        "cost_in_replies": endpoint.cost_in_replies,
    }


def with_prices(run: Run) -> dict[str, Any]:
    """Return the settings of *run*, with the present prices of its endpoint if it has none yet.

    The currency of a study stays: its runs share one budget.
    """
    endpoint, study = run.endpoint, run.study
    settings: dict[str, Any] = run.run_settings
    if endpoint is None or not endpoint.has_prices or price_of(run).most(1, 1):
        return settings
    if study is not None and study.currency != endpoint.currency:
        return settings
    settings = {**settings, **_prices_as_json(endpoint)}
    return half_priced(settings) if run.by_batch else settings


@transaction.atomic
def take_prices(run: Run) -> None:
    """Freeze the present prices of its endpoint in *run* if it was started without any.

    Its budget and the caps bound what it costs from then on. Prices that it has stay.
    """
    if with_prices(run) == run.run_settings:
        return
    current = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    before, run.run_settings = current.run_settings, with_prices(current)
    if run.run_settings != before:
        run.save(update_fields=["run_settings"])
        names = ("price_input", "price_output", "price_cached", "currency")
        taken = {name: run.run_settings[name] for name in names}
        record(Tag.RUN_PRICES, run, actor=None, **taken)


def half_priced(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the frozen *settings* with half of each price, which calls by batch cost."""
    names = ("price_input", "price_output", "price_cached")
    given = {name: settings[name] for name in names if settings[name] is not None}
    return {**settings, **{name: str(Decimal(price) / 2) for name, price in given.items()}}


def sampling_of(run: Run) -> Sampling:
    """Return the sampling that *run* was started with."""
    return read_sampling(run.run_settings["sampling"])


def is_still_the_same(run: Run, endpoint: Endpoint) -> bool:
    """Return whether *endpoint* has the model and the address that the run was started with."""
    return run.run_settings["model"] == endpoint.model and has_its_address(run, endpoint)


def has_its_address(run: Run, endpoint: Endpoint) -> bool:
    """Return whether *endpoint* has the address that the run was started with.

    An endpoint of the demo has it on whichever port its model listens.
    """
    before, now = run.run_settings["base_url"], endpoint.base_url
    return before == now or is_its_next_port(endpoint.name, before, now)


def prices_of(endpoint: Endpoint) -> Price:
    """Return the present prices of *endpoint*."""
    return Price(endpoint.price_input, endpoint.price_output, endpoint.price_cached)


def sent_to(endpoint: Endpoint) -> list[str]:
    """Return ``SENT_TO`` of *endpoint* as it was read."""
    return [getattr(endpoint, name.removeprefix("endpoint__")) for name in SENT_TO]


def price_of(run: Run) -> Price:
    """Return the prices that are frozen in *run*."""
    facts = run.run_settings
    cached = facts.get("price_cached")  # older runs have none
    return Price(
        Decimal(facts["price_input"]),
        Decimal(facts["price_output"]),
        None if cached is None else Decimal(cached),
    )


def cost_in_replies(run: Run) -> bool:
    """Return whether the costs that replies report are in the currency of *run*, and count."""
    return bool(run.run_settings.get("cost_in_replies"))


def currency_of(run: Run) -> str:
    """Return the currency of the frozen prices of *run*, "" for an imported one."""
    return str(run.run_settings.get("currency", ""))
