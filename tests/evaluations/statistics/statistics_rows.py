"""Builds ScoredAnswer rows for the tests of statistics."""

from __future__ import annotations

from itertools import count

from evaluations.statistics.rows import ModelCondition, ScoredAnswer

_responses = count(1)
CONDITION = "zero-shot"


def under(model: str, condition: str = CONDITION) -> ModelCondition:
    """*model* under the condition of these rows, or another."""
    return ModelCondition(model, condition)


def answered(**changes: object) -> ScoredAnswer:
    """A right single-choice answer worth 6 points, with *changes*; each has its own response."""
    number = next(_responses)
    fields: dict[str, object] = {
        "response": number,
        "question": number,
        "run": 1,
        "model": "m",
        "condition": CONDITION,
        "dataset": "gaokao-bench",
        "task": "2010-2022_Biology_MCQs",
        "subject": "Biology",
        "part": "objective",
        "year": 2022,
        "repeat": 1,
        "marker": "key",
        "policy": "strict",
        "points": 6.0,
        "full": 6.0,
    }
    return ScoredAnswer(**(fields | changes))  # type: ignore[arg-type]


def marked(**changes: object) -> ScoredAnswer:
    """A subjective answer with 3 of 10 points from two teachers, with *changes*."""
    fields: dict[str, object] = {
        "task": "2010-2022_Biology_Open-ended_Questions",
        "part": "subjective",
        "marker": "teachers",
        "points": 3.0,
        "full": 10.0,
    }
    return answered(**(fields | changes))
