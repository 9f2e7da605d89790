"""Repeats: a hand-worked table of five items asked three times, and the edges."""

from __future__ import annotations

import pytest
from scipy import stats

from evaluations.statistics.figure import Figure
from evaluations.statistics.repeats import repeats
from evaluations.statistics.rows import ScoredAnswer
from tests.evaluations.statistics.statistics_rows import answered, marked


def asked(question: int, answers: str, key: str = "A", **changes: object) -> list[ScoredAnswer]:
    """One item worth 6 points, asked once per letter; ``-`` stands for nothing read."""
    return [
        answered(
            question=question,
            repeat=repeat,
            answer="" if letter == "-" else letter,
            points=6.0 if letter == key else 0.0,
            **changes,
        )
        for repeat, letter in enumerate(answers, 1)
    ]


def figures(rows: list[ScoredAnswer], subject: str = "ALL") -> dict[str, Figure]:
    (found,) = [r.figures for r in repeats(rows).rows if r.key["subject"] == subject]
    return found


#            answers  mean  worst  best  majority  two right  pattern
# item 1     A A A    1     1      1     1         1          all the same
# item 2     A A B    2/3   0      1     1         1          one differs
# item 3     B B A    1/3   0      1     0         0          one differs
# item 4     A B C    1/3   0      1     1/3       0          all different (mean of three tied)
# item 5     - - -    0     0      0     0         0          all the same: nothing read
TABLE = [
    row
    for question, answers in enumerate(("AAA", "AAB", "BBA", "ABC", "---"), 1)
    for row in asked(question, answers)
]

EXPECTED = {
    "average": (1 + 2 / 3 + 1 / 3 + 1 / 3) / 5,
    "worst": 1 / 5,
    "best": 4 / 5,
    "majority": (1 + 1 + 1 / 3) / 5,
    "majority_paper": 2 / 5,
    "all_same": 2 / 5,
    "one_differs": 2 / 5,
    "all_different": 1 / 5,
    "incomplete": 0,
}


@pytest.mark.parametrize("name", EXPECTED)
def test_three_repeats_by_hand(name: str) -> None:
    figure = figures(TABLE)[name]
    assert figure.value == pytest.approx(EXPECTED[name])
    assert figure.n == 5


def test_consistency_counts_items_that_are_answered_in_every_repeat() -> None:
    #  AAA the same, AAB and BBA and ABC not; --- and A-A are not answered in every repeat.
    found = figures(TABLE + asked(6, "A-A"))["consistency"]
    expected = stats.binomtest(1, 4).proportion_ci(method="wilson")
    assert (found.value, found.n) == (1 / 4, 4)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    nothing = figures(asked(1, "--"))["consistency"]
    assert (nothing.value, nothing.reason) == (None, "no_answered")


def test_shares_carry_wilsons_interval() -> None:
    same = figures(TABLE)["all_same"]
    expected = stats.binomtest(2, 5).proportion_ci(method="wilson")
    assert (same.low, same.high) == pytest.approx((expected.low, expected.high))


def test_items_weigh_by_their_full_marks() -> None:
    # 6 + 0 of 6 twice, and 1 of 2 twice: average (3 + 1) / 8, worst 1 / 8, best 7 / 8.
    part = [
        answered(question=9, repeat=repeat, answer="BD", points=1.0, full=2.0) for repeat in (1, 2)
    ]
    found = figures(asked(1, "AB") + part)
    assert [found[name].value for name in ("average", "worst", "best")] == [4 / 8, 1 / 8, 7 / 8]


@pytest.mark.parametrize(
    ("answers", "points"),
    [
        ("AB", 3.0),  # a tie of two: half
        ("BC", 0.0),
        ("AABB", 3.0),
        ("AABC", 6.0),
        ("BBAC", 0.0),
        ("A--", 0.0),  # nothing read wins the vote
        ("AA-", 6.0),
    ],
)
def test_majority_and_its_ties(answers: str, points: float) -> None:
    assert figures(asked(1, answers))["majority"].value == pytest.approx(points / 6)


@pytest.mark.parametrize(
    ("answers", "points"),
    [
        ("AA", 6.0),
        ("AB", 0.0),  # one of two is not more than half
        ("AABC", 0.0),
        ("AAAB", 6.0),
        ("A-A", 6.0),
    ],
)
def test_the_papers_majority_needs_more_than_half_right(answers: str, points: float) -> None:
    assert figures(asked(1, answers))["majority_paper"].value == points / 6


def test_partial_credit_is_not_right_for_the_papers_majority() -> None:
    """Half the marks three times: nothing; half of one repeat beside two right ones: all."""
    half = [answered(question=1, repeat=n, answer="B", points=3.0, full=6.0) for n in (1, 2, 3)]
    assert figures(half)["majority_paper"].value == 0.0
    assert figures([half[0], *asked(1, "-AA")[1:]])["majority_paper"].value == 1.0


@pytest.mark.parametrize(
    ("answers", "pattern"),
    [
        ("AAAA", (1, 0, 0)),
        ("AAAB", (0, 1, 0)),
        ("AABB", (0, 0, 0)),
        ("ABCD", (0, 0, 1)),
        ("AABC", (0, 0, 0)),
    ],
)
def test_patterns_of_four_repeats(answers: str, pattern: tuple[int, int, int]) -> None:
    found = figures(asked(1, answers))
    names = ("all_same", "one_differs", "all_different")
    assert tuple(found[name].value for name in names) == pattern


def test_two_repeats_have_no_one_differs() -> None:
    found = figures(asked(1, "AB") + asked(2, "AA"))
    assert found["one_differs"].reason == "only_two_repeats"
    assert (found["all_same"].value, found["all_different"].value) == (0.5, 0.5)


def test_one_repeat_has_a_reason() -> None:
    found = figures(asked(1, "A"))
    for name in EXPECTED.keys() - {"incomplete"}:
        assert (found[name].value, found[name].reason) == (None, "too_few_repeats")


def test_items_with_a_missing_or_unscored_repeat_are_left_out_and_counted() -> None:
    failed = answered(question=3, repeat=3, points=None, outcome="api_error", answer="")
    found = figures(asked(1, "AAA") + asked(2, "AB") + [*asked(3, "AA"), failed])
    assert (found["average"].value, found["average"].n) == (1.0, 1)
    assert (found["incomplete"].value, found["incomplete"].n) == (2, 3)


def test_no_complete_item_has_a_reason() -> None:
    found = figures(asked(1, "AA") + asked(2, "A", subject="Physics"), subject="Physics")
    assert found["average"].reason == "no_data"
    assert found["incomplete"].value == 1


def test_rows_that_do_not_carry_the_answer() -> None:
    rows = [answered(question=1, repeat=repeat, points=6.0) for repeat in (1, 2, 3)]
    found = figures(rows)
    assert found["average"].value == 1.0
    for name in ("majority", "all_same", "one_differs", "all_different"):
        assert found[name].reason == "no_answers"


def test_rows_by_model_and_subject_objective_only() -> None:
    rows = asked(1, "AA", subject="Physics") + asked(2, "AB") + asked(2, "AB", model="b")
    report = repeats([*rows, marked(), marked(model="c")])
    assert [tuple(row.key.values()) for row in report.rows] == [
        ("b", "zero-shot", "Biology"),
        ("b", "zero-shot", "ALL"),
        ("m", "zero-shot", "Physics"),
        ("m", "zero-shot", "Biology"),
        ("m", "zero-shot", "ALL"),
    ]


def test_one_repeat_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="question 1: one repeat comes twice"):
        repeats(asked(1, "AA") + asked(1, "A"))
