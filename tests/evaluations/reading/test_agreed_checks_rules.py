"""People who look at one response: most of them count, and two who differ settle nothing."""

from __future__ import annotations

import pytest

from evaluations.reading.rules.extraction.reading import Statement, majority

A, B, NONE = (
    Statement(("A",), "read"),
    Statement(("B",), "read"),
    Statement((None,), "no_answer"),
)


@pytest.mark.parametrize(
    ("checks", "together"),
    [
        ([A], A),
        ([A, A], A),
        ([A, B], None),
        ([A, B, A], A),
        ([B, A, A], A),
        ([A, B, NONE], None),
        ([A, A, B, B], None),
        ([NONE, A, NONE], NONE),
    ],
)
def test_the_most_count(checks: list[Statement], together: Statement | None) -> None:
    assert majority(checks) == together


def test_a_gap_is_not_a_refusal() -> None:
    assert majority([NONE, Statement((None,), "refused")]) is None
