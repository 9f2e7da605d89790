"""ScoredAnswer: the row type that all reports are computed from.

Marks are ``Decimal`` in the database and ``float`` in these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class ModelCondition(NamedTuple):
    """A model and the name of the condition under which it was asked: what figures are about.

    Answers of two conditions are never pooled, so every group of rows and every key has both.
    """

    model: str
    condition: str

    def __str__(self) -> str:
        return f"{self.model} · {self.condition}"


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """Points that one marker gave to one response.

    ``condition`` is the name of the condition under which ``model`` was asked; ``repeat`` counts
    within it from 1.
    ``points`` is None if the marker gave no value (unreadable judge reply, unmarked response);
    ``reason`` is then the code of why. ``subs`` is the number of sub-answers of the item.
    ``marker`` is ``key`` (scored by rule), ``teachers`` or ``judge:NAME``. ``answer`` is the
    normalized answer that was read in an objective response (``"B"``, ``"A C BD"``, ``""`` for
    none), or None if it is not known. ``exact_match`` (0 or 1) and ``f1`` (0 to 1) compare an exact
    answer with its key (AGIEval, section 4.1): ``exact_match`` by its text under ``published``, by
    its meaning under ``strict``; None for every other row.
    """

    response: int
    question: int
    run: int
    model: str
    condition: str
    dataset: str
    task: str
    subject: str
    part: str
    year: int | None
    repeat: int
    marker: str
    policy: str
    points: float | None
    full: float
    subs: int = 1
    outcome: str = ""
    reason: str = ""
    answer: str | None = None
    exact_match: float | None = None
    f1: float | None = None

    @property
    def asked(self) -> ModelCondition:
        """The model and its condition."""
        return ModelCondition(self.model, self.condition)
