"""The ledger counts every answer once."""

from __future__ import annotations

import pytest

from evaluations.statistics.ledger import OUTCOMES, ledger, outcome_of
from tests.evaluations.statistics.statistics_rows import answered, marked


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_each_outcome_is_counted(outcome: str) -> None:
    (row,) = ledger([answered(outcome=outcome, points=None), answered(outcome=outcome)]).rows
    assert row.figures[outcome].value == 2
    assert sum(figure.value or 0 for figure in row.figures.values()) == 2
    assert {figure.n for figure in row.figures.values()} == {2}


def test_one_row_per_model_and_task() -> None:
    report = ledger(
        [
            answered(outcome="correct"),
            answered(outcome="wrong", subs=20),
            answered(outcome="refused", task="lsat-ar"),
            answered(outcome="correct", model="a"),
        ]
    )
    assert [tuple(row.key.values()) for row in report.rows] == [
        ("a", "zero-shot", "2010-2022_Biology_MCQs"),
        ("m", "zero-shot", "2010-2022_Biology_MCQs"),
        ("m", "zero-shot", "lsat-ar"),
    ]
    assert report.rows[1].figures["correct"].value == 1
    assert report.rows[1].figures["correct"].n == 2
    assert list(report.rows[0].figures) == list(OUTCOMES)


@pytest.mark.parametrize(
    ("points", "outcome"),
    [(10.0, "correct"), (12.0, "correct"), (0.5, "partial"), (0.0, "wrong"), (None, "not_scored")],
)
def test_marked_rows_are_placed_by_their_points(points: float | None, outcome: str) -> None:
    assert outcome_of(marked(points=points, full=10.0)) == outcome


def test_an_unknown_outcome_does_not_vanish() -> None:
    with pytest.raises(ValueError, match="'right' is not an outcome"):
        ledger([answered(outcome="right")])
