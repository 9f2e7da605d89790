"""ScoredAnswer: the one row that every figure of every report is computed from.

Marks are ``Decimal`` up to here and ``float`` from here on.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """Points that one marker gave to one response.

    ``points`` is None when the marker gave no value (unscored judge reply,
    unmarked response); ``reason`` then says why. ``subs`` is the number of
    sub-answers of the item: 2,944 sub-answers over 1,781 objective items.
    ``marker`` is ``key`` (scored by rule), ``teachers`` or ``judge:NAME``.
    ``answer`` is what was read from an objective response, in one spelling
    (``"B"``, ``"A C BD"``; ``""`` when nothing could be read), so that repeats can
    be compared; None when the row does not carry it. ``exact_match`` (0 or 1) and
    ``f1`` (0 to 1) compare an exact answer with its key (AGIEval, section 4.1):
    ``exact_match`` its text under ``published``, its meaning under ``strict``; None
    for every other row.
    """

    response: int
    question: int
    model: str
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
