"""Which questions of a dataset a run asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class QuestionChoice:
    """A choice of questions; an empty field does not restrict it.

    ``tasks`` are slugs, ``subjects`` and ``part`` values of the vocabulary, ``years`` the first
    and the last year, ``ids`` the public ids of questions, ``query`` a query string of the bank's
    filters. ``limit`` takes so many, spread evenly over the tasks; ``sample`` draws so many at
    random by ``random_seed``, in proportion to the strata of ``stratified_by`` (``task``,
    ``subject``, ``year``) if that is given.
    """

    tasks: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    part: str = ""
    years: tuple[int, int] | None = None
    ids: tuple[str, ...] = ()
    query: str = ""
    limit: int | None = None
    sample: int | None = None
    random_seed: int = 0
    stratified_by: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON."""
        given = asdict(self)
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value not in ((), "", None) and (name != "random_seed" or self.sample)
        }


def read_choice(given: Mapping[str, Any]) -> QuestionChoice:
    """Return the ``QuestionChoice`` that was stored as *given*."""
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    return QuestionChoice(**fields)
