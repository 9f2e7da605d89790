"""URLs of pages about reports, with the filters in them.

A page has thousands of links with the same filters, so what they share is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import quote_plus

from django.urls import get_script_prefix, reverse
from django.utils.http import urlencode

from evaluations.facts.params import ReportParams
from evaluations.statistics.rows import ModelCondition


def address_of(view: str, params: ReportParams, **others: str | Sequence[str]) -> str:
    """Return the URL of *view* with *params* and *others*, without those that are empty."""
    return f"{_path(view, get_script_prefix())}?{query_of(params, **others)}"


def query_of(params: ReportParams, **others: str | Sequence[str]) -> str:
    """Return *params* and *others* as the query of a URL."""
    own = (
        f"{name}={_quoted(one)}"
        for name, value in others.items()
        if value
        for one in ([value] if isinstance(value, str) else value)
    )
    return "&".join(filter(None, (_filters(params), *own)))


@lru_cache(maxsize=1024)
def _quoted(value: str) -> str:
    return quote_plus(value)


@lru_cache(maxsize=256)
def of_asked(
    params: ReportParams, asked: ModelCondition, *, of_any_marker: bool = False
) -> ReportParams:
    """Return *params* for one model and condition."""
    marker = "" if of_any_marker else params.marker
    return replace(params, models=(asked.model,), conditions=(asked.condition,), marker=marker)


@lru_cache(maxsize=64)
def _path(view: str, _prefix: str) -> str:
    return reverse(view)


@lru_cache(maxsize=256)
def _filters(params: ReportParams) -> str:
    query = {
        "dataset": params.dataset,
        "model": params.models,
        "condition": params.conditions,
        "run": params.runs,
        "marker": params.marker,
        "policy": params.policy,
        "year": params.year or "",
        "round": params.rounds,
        "without_blind": "yes" if params.without_blind else "",
        "paper": params.paper,
    }
    return urlencode({name: value for name, value in query.items() if value}, doseq=True)
