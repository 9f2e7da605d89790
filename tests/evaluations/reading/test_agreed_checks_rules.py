"""People who look at one response: most of them count, and two who differ settle nothing."""

from __future__ import annotations

import pytest

from evaluations.reading.rules.extraction.agreed_checks import Said, agreed, undecided

A, B, NONE = Said(("A",), "read"), Said(("B",), "read"), Said((None,), "no_answer")


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
def test_the_most_count(checks: list[Said], together: Said | None) -> None:
    assert agreed(checks) == together


def test_nobody_says_nothing() -> None:
    with pytest.raises(ValueError, match="nobody"):
        agreed([])


def test_a_gap_is_not_a_refusal() -> None:
    assert agreed([NONE, Said((None,), "refused")]) is None
    assert undecided(2) == Said((None, None), "ambiguous")
