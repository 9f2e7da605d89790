"""Each step from published to strict, worked by hand, and that they add up."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

from evaluations.reading.rules.scoring.ablation import (
    Evidence,
    Reason,
    ScoredItem,
    Step,
    movements,
    steps_of,
)

SIX = (Decimal(6),)


def step(reason: Reason, points: int, full: int = 0) -> list[Step]:
    return [Step(reason, Decimal(points), Decimal(full))]


def score(points: str, *answers: str | None, outcome: str = "read") -> Evidence:
    return Evidence(answers, outcome, Decimal(points))


def item(
    published: Evidence | None,
    strict: Evidence | None,
    key: tuple[str, ...] = ("C",),
    kind: str = "single_choice",
    marks: tuple[Decimal, ...] = SIX,
    left_out: bool = False,
) -> ScoredItem:
    return ScoredItem("gaokao-bench", "Physics", kind, key, marks, published, strict, left_out)


NO_ANSWER = Evidence((None,), "ambiguous", Decimal(0))
CASES = {
    "the same": (item(score("6", "C"), score("6", "C")), []),
    "a letter of the reasoning": (
        item(score("6", "C"), NO_ANSWER),
        step(Reason.READING, -6),
    ),
    "read better": (item(score("0", "A"), score("6", "C")), step(Reason.READING, 6)),
    # "AAC" is no wrong letter but another string: 3 as published, 6 as a set.
    "a letter twice": (
        item(score("3", "AAC"), score("6", "AC"), ("AC",), "multi_choice"),
        step(Reason.READING, 3),
    ),
    # The strict reading "CA" under the published rule is a string that is not "AC".
    "order": (
        item(score("3", "CA"), score("6", "CA"), ("AC",), "multi_choice"),
        step(Reason.CREDIT, 3),
    ),
    "one answer too few costs the whole item": (
        item(
            score("0", "A"),
            score("2", "A", None),
            ("A", "B"),
            "multi_question_choice",
            (Decimal(2), Decimal(2)),
        ),
        step(Reason.LENGTH, 2),
    ),
    "repaired key": (item(score("6", "C"), score("0", "C")), step(Reason.KEY, -6)),
    "repaired key and another reading": (
        item(score("6", "C"), score("6", "D")),
        step(Reason.READING, -6) + step(Reason.KEY, 6),
    ),
    "quarantined": (
        item(score("6", "C"), score("6", "C"), left_out=True),
        step(Reason.LEFT_OUT, -6, -6),
    ),
    "no strict score yet": (
        item(score("0", "A"), None),
        step(Reason.UNSCORED, 0, -6),
    ),
    "no published rules": (
        item(None, score("6", "C")),
        step(Reason.UNSCORED, 6, 6),
    ),
    "a program's message": (
        item(score("0", None), score("0", None, outcome="api_error")),
        step(Reason.ERROR_TEXT, 0, -6),
    ),
    "a program's message without published rules": (
        item(None, score("0", None, outcome="api_error")),
        [],
    ),
    "no score at all": (item(None, None), []),
    "no published score, and left out": (item(None, score("6", "C"), left_out=True), []),
}


@pytest.mark.parametrize("name", CASES)
def test_steps(name: str) -> None:
    given, expected = CASES[name]
    assert steps_of(given) == expected


def test_the_changes_of_the_rate_add_up_to_the_difference() -> None:
    # 6 + 6 + 0 + 0 of 24 as published; one left out, a message not counted, and one read
    # better: 6 + 6 of 12.
    items = [
        item(score("6", "C"), score("6", "C")),
        item(score("6", "C"), score("6", "C"), left_out=True),
        item(score("0", "A"), score("6", "C")),
        item(score("0", None), score("0", None, outcome="api_error")),
    ]
    found = movements(Decimal(12), Decimal(24), [steps_of(one) for one in items])
    by_reason = {one.reason: one for one in found}
    assert list(by_reason) == list(Reason)
    assert by_reason[Reason.LEFT_OUT].rate == Fraction(6, 18)
    assert by_reason[Reason.LEFT_OUT].change == Fraction(6, 18) - Fraction(12, 24)
    assert by_reason[Reason.ERROR_TEXT].rate == Fraction(6, 12)
    assert by_reason[Reason.READING].rate == Fraction(1)
    assert [by_reason[reason].items for reason in Reason] == [1, 1, 0, 0, 1, 0, 0]
    changes = [one.change for one in found]
    assert sum(change for change in changes if change is not None) == Fraction(1) - Fraction(1, 2)


def test_nothing_scored_has_no_rate() -> None:
    found = movements(Decimal(0), Decimal(0), [step(Reason.UNSCORED, 6, 6)])
    assert [one.change for one in found] == [None, None, None, *[Fraction(0)] * 4]
    assert found[-1].rate == Fraction(1)
