"""Objective scoring under both policies, by table and against the released summary."""

from __future__ import annotations

import json
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.reading.rules.scoring.objective import (
    ObjectiveResult,
    PartialCredit,
    default_partial_credit,
    score_objective,
)
from evaluations.statistics.outcomes import LedgerOutcome
from evaluations.statistics.policies import Policy
from tests.evaluations.published_files import objective_items


def score(
    answers: list[str | None],
    key: list[str],
    *,
    each: str = "6",
    question_type: str = "single_choice",
    outcome: str = "read",
    policy: Policy = Policy.STRICT,
    partial_credit: PartialCredit | None = None,
) -> ObjectiveResult:
    return score_objective(
        answers=answers,
        key=key,
        sub_marks=[Decimal(each)] * len(key),
        question_type=question_type,
        outcome=outcome,
        policy=policy,
        partial_credit=partial_credit,
    )


@pytest.mark.parametrize(
    ("policy", "answer", "key", "points"),
    [
        ("strict", "AC", "AC", "6"),
        ("strict", "CA", "AC", "6"),  # sets: the order does not count
        ("strict", "AAC", "AC", "6"),  # nor does a repeat
        ("strict", "A", "AC", "3"),
        ("strict", "AB", "AC", "0"),
        ("strict", "ABC", "AC", "0"),
        ("strict", None, "AC", "0"),
        ("strict", "A", "A", "6"),
        ("strict", "AB", "A", "0"),
        ("strict", "AC", "ACD", "3"),
        ("published", "AC", "AC", "6"),
        ("published", "AAC", "AC", "3"),  # strings: a repeat is no longer the full answer
        ("published", "CA", "AC", "3"),
        ("published", "A", "AC", "3"),
        ("published", "AB", "AC", "0"),
        ("published", "AA", "A", "3"),
    ],
)
def test_multiple_choice_credit(policy: str, answer: str | None, key: str, points: str) -> None:
    rule = default_partial_credit("multi_choice", subject="Physics", policy=Policy(policy))
    result = score(
        [answer], [key], question_type="multi_choice", policy=Policy(policy), partial_credit=rule
    )
    assert (result.points, result.full) == (Decimal(points), Decimal(6))


@pytest.mark.parametrize(
    ("policy", "subject", "dataset", "rule"),
    [
        ("published", "Physics", "gaokao-bench", "half"),
        ("published", "Sciences Mathematics", "gaokao-bench", "none"),
        ("published", "Sciences Mathematics", "exam", "none"),
        ("published", "Physics", "agieval", "none"),
        ("strict", "Sciences Mathematics", "gaokao-bench", "half"),
        ("strict", "Physics", "agibench", "none"),
    ],
)
def test_an_incomplete_answer_is_worth_half_as_published_in_physics_alone(
    policy: str, subject: str, dataset: str, rule: str
) -> None:
    found = default_partial_credit("multi_choice", dataset, subject=subject, policy=Policy(policy))
    assert found == rule
    assert default_partial_credit("single_choice", dataset, subject=subject) == "none"


@pytest.mark.parametrize("policy", list(Policy))
@pytest.mark.parametrize("answer", [None, "", "A"])
def test_without_a_key_there_is_no_score(answer: str | None, policy: Policy) -> None:
    for key in ([""], [" "], ["A", ""]):
        with pytest.raises(ValueError, match="without a key"):
            score([answer] * len(key), key, question_type="multi_choice", policy=policy)


def test_partial_credit_can_be_switched_off() -> None:
    all_or_nothing = score(
        ["A"], ["AC"], question_type="multi_choice", partial_credit=PartialCredit.NONE
    )
    assert all_or_nothing.points == 0


def test_only_multiple_choice_gives_half() -> None:
    assert score(["A"], ["AC"], question_type="single_choice").points == 0


def test_a_gap_costs_one_sub_question_when_strict_and_the_item_as_published() -> None:
    several = {"question_type": "multi_question_choice", "each": "2"}
    strict = score(["A", None, "C"], ["A", "B", "C"], **several)
    assert strict.sub_points == (Decimal(2), Decimal(0), Decimal(2))
    published = score(["A", "C"], ["A", "B", "C"], policy=Policy.PUBLISHED, **several)
    assert published.sub_points == (Decimal(0),) * 3
    assert published.outcome is LedgerOutcome.WRONG


@pytest.mark.parametrize(
    ("answers", "outcome", "ledger"),
    [
        (["A", "B"], "read", LedgerOutcome.CORRECT),
        (["A", "C"], "read", LedgerOutcome.PARTIAL),
        (["A", None], "read", LedgerOutcome.PARTIAL),
        (["C", None], "read", LedgerOutcome.WRONG),
        ([None, None], "no_answer", LedgerOutcome.NO_ANSWER),
        ([None, None], "ambiguous", LedgerOutcome.AMBIGUOUS),
        ([None, None], "refused", LedgerOutcome.REFUSED),
        ([None, None], "truncated", LedgerOutcome.TRUNCATED),
    ],
)
def test_ledger(answers: list[str | None], outcome: str, ledger: LedgerOutcome) -> None:
    result = score(answers, ["A", "B"], question_type="multi_question_choice", outcome=outcome)
    assert result.outcome is ledger


@pytest.mark.parametrize("outcome", ["api_error", "not_scored", "excluded", "correct", "x"])
def test_what_was_never_read_has_no_score(outcome: str) -> None:
    with pytest.raises(ValueError, match="has no score"):
        score([None], ["A"], outcome=outcome)


def test_numbers_that_do_not_line_up_are_refused() -> None:
    with pytest.raises(ValueError, match="one answer or gap"):
        score(["A"], ["A", "B"])
    with pytest.raises(ValueError, match="one key and one full mark"):
        score_objective(
            answers=["A"],
            key=["A"],
            sub_marks=[],
            question_type="single_choice",
            outcome="read",
            policy=Policy.STRICT,
        )


def test_every_ledger_word_has_both_names() -> None:
    assert len({member.english for member in LedgerOutcome}) == 10
    assert len({member.chinese for member in LedgerOutcome}) == 10


ANSWER = st.none() | st.text("ABCDZ", max_size=6)
KEY = st.sets(st.sampled_from("ABCD"), min_size=1).map(lambda letters: "".join(sorted(letters)))


@given(st.lists(st.tuples(ANSWER, KEY), min_size=1, max_size=5), st.sampled_from(list(Policy)))
def test_points_lie_between_nothing_and_full(
    pairs: list[tuple[str | None, str]], policy: Policy
) -> None:
    answers, key = [answer for answer, _ in pairs], [right for _, right in pairs]
    result = score(answers, key, each="1.5", question_type="multi_choice", policy=policy)
    assert 0 <= result.points <= result.full == Decimal("1.5") * len(pairs)
    assert sum(result.sub_points) == result.points


def test_published_policy_gives_the_released_summary(shared_data: Path) -> None:
    totals: dict[str, list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0), Decimal(0)])
    for keyword, question_type, item in objective_items(shared_data):
        key = item["standard_answer"]
        result = score_objective(
            answers=item["model_answer"],
            key=key,
            sub_marks=[Decimal(str(item["score"]))] * len(key),
            question_type=question_type,
            outcome="read" if item["model_answer"] else "no_answer",
            policy=Policy.PUBLISHED,
            partial_credit=PartialCredit.HALF if "Physics" in keyword else PartialCredit.NONE,
        )
        row = (result.full, result.points, Decimal(len(key)))
        totals[keyword] = [a + b for a, b in zip(totals[keyword], row, strict=True)]
    summary = shared_data / "gaokao-bench/Results/gpt_4_0314_obj/result/correction_score.json"
    released = {
        name: [Decimal(str(kind[f])) for f in ("total_score", "correct_score", "question_num")]
        for subject in json.loads(summary.read_text("utf-8"))["subject"].values()
        for name, kind in subject["type"].items()
    }
    assert totals == released
    assert [sum(row) for row in zip(*totals.values(), strict=True)] == [9702, 7000, 2944]
