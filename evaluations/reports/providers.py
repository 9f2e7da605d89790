"""What features above the reports give to them, registered in `evaluations/apps.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from evaluations.statistics.figure import Figure
from evaluations.statistics.rows import ModelCondition

Capabilities = Mapping[ModelCondition, Mapping[str, Figure]]
_capabilities: list[Callable[[str], Capabilities]] = []


def register_capabilities(provider: Callable[[str], Capabilities]) -> None:
    """Add a function of a dataset's slug that returns how its wrong answers were judged."""
    if provider not in _capabilities:
        _capabilities.append(provider)


def capabilities_of(dataset: str) -> dict[ModelCondition, Mapping[str, Figure]]:
    """Return by model and condition the shares (0 to 1) of the four capabilities."""
    found: dict[ModelCondition, Mapping[str, Figure]] = {}
    for provider in _capabilities:
        found |= provider(dataset)
    return found
