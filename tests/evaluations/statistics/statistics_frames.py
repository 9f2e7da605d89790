"""Builds frames of questions for the tests of statistics."""

from __future__ import annotations

import pandas as pd

from tests.evaluations.statistics.statistics_rows import CONDITION


def asked(question: int, points: float | None, full: float = 1.0, **changes: object) -> dict:
    """A question with its repeats, which earned *points* of *full* together; None: not scored."""
    n = int(changes.get("n", 1))
    fields: dict[str, object] = {
        "model": "m",
        "condition": CONDITION,
        "question": question,
        "external_id": str(question),
        "task": "lsat-ar",
        "dataset": "agieval",
        "subject": "",
        "part": "objective",
        "year": 2022,
        "language": "en",
        "question_type": "single_choice",
        "ability_branch": "reasoning",
        "knowledge": "law",
        "subclass": "",
        "difficulty": 1,
        "modal": "text",
        "human": None,
        "full_each": full / n,
        "subs": 1,
        "n": 0 if points is None else n,
        "unscored": n if points is None else 0,
        "points": points or 0.0,
        "full": 0.0 if points is None else full,
        "exact_n": 0,
        "exact_sum": 0.0,
        "f1_sum": 0.0,
    }
    row = fields | changes | ({"n": 0} if points is None else {})
    each = row["full_each"]
    defaults = {
        "units": row["n"] * row["subs"],
        "unscored_units": row["unscored"] * row["subs"],
        "right": row["points"] // each if each else 0,
    }
    return defaults | row


def frame(*rows: dict) -> pd.DataFrame:
    """The rows as ``question_frame`` gives them."""
    columns = list(asked(1, 1.0))
    made = pd.DataFrame(list(rows), columns=columns)
    return made.astype({"year": "Int64", "difficulty": "Int64", "human": "float64"})
