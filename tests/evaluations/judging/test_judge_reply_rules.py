"""Totals of judge replies: our cases, hostile text, and the released replies."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.judging.rules.judge_reply import read_judge_reply
from evaluations.statistics.outcomes import JudgeStatus
from questions.rules.rubric import PointGroup, RubricLines, ScoringPoint
from tests.conftest import SHARED_DATA
from tests.evaluations.published_files import judged_items

OURS = Path(__file__).parents[2] / "cases" / "judge_replies.json"
SHARED = SHARED_DATA.parent / "cases" / "judge_replies.json"
CASES = [
    case for path in (OURS, SHARED) if path.exists() for case in json.loads(path.read_text("utf-8"))
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:30])
def test_case(case: dict[str, Any]) -> None:
    finish_reason = case.get("finish_reason", "stop")
    reading = read_judge_reply(case["reply"], Decimal(case["full"]), finish_reason=finish_reason)
    score = case.get("score")
    assert reading.total == (None if score is None else Decimal(str(score)))
    assert reading.status == case.get("status", "scored")
    assert case.get("flag") in (*reading.flags, None)


@pytest.mark.parametrize(
    ("finish_reason", "status"),
    [
        ("length", JudgeStatus.TRUNCATED),
        ("tool_calls", JudgeStatus.TRUNCATED),
        ("content_filter", JudgeStatus.REFUSED),
    ],
)
def test_a_reply_that_did_not_end_by_itself_is_not_read(
    finish_reason: str, status: JudgeStatus
) -> None:
    reading = read_judge_reply("【总分】1", Decimal(15), finish_reason=finish_reason)
    assert (reading.total, reading.status) == (None, status)


RUBRIC = RubricLines(
    (
        ScoringPoint("names the law", Decimal(6)),
        ScoringPoint("one way", Decimal(4), group=1),
        ScoringPoint("another way", Decimal(4), group=1),
    ),
    (PointGroup(Decimal(4), choose=1),),
)


@pytest.mark.parametrize(
    ("given", "total", "status", "details"),
    [
        ({1: "6", 2: "4", 3: "3"}, "10", "scored", {"points": ["6", "4", "3"]}),
        (
            {1: "6", 2: "4", 3: "3"},
            "13",
            "points_differ",
            {"points": ["6", "4", "3"], "sum": "10", "total": "13"},
        ),
        ({1: "6", 2: "4"}, "10", "points_unclear", {"missing": [3]}),
        ({1: "7", 2: "2", 3: "0"}, "9", "points_unclear", {"out_of_range": [1]}),
        ({1: "1", 2: "0", 4: "0"}, "1", "points_unclear", {"missing": [3], "unknown": ["4"]}),
    ],
)
def test_points_in_json_are_those_of_the_rubric_and_add_up(
    given: dict[int, str], total: str, status: str, details: dict[str, Any]
) -> None:
    points = ", ".join(f'{{"id": {one}, "awarded": {value}}}' for one, value in given.items())
    reply = f'{{"points": [{points}], "total": {total}}}'
    reading = read_judge_reply(reply, Decimal(14), rubric=RUBRIC, response="")
    assert (reading.status, reading.details) == (status, details)


def test_quotes_must_stand_in_the_response_apart_from_blanks_and_markup() -> None:
    quotes = ("Newton's $F = ma$", "so it falls", "which never stood there")
    points = ", ".join(
        f'{{"id": {place}, "awarded": 1, "quote": "{quote}"}}'
        for place, quote in enumerate(quotes, start=1)
    )
    reply = f'{{"points": [{points}], "total": 3}}'
    reading = read_judge_reply(reply, Decimal(9), response="Newton's F=ma, so it\nfalls.")
    assert reading.flags == ("quote_not_found",)
    assert reading.details["missing_quotes"] == ["which never stood there"]
    assert reading.total == 3, "the flag is for people; the points are the judge's own"


def test_a_judge_asked_for_points_gives_no_total_in_prose() -> None:
    assert read_judge_reply("Total: 9/14", Decimal(14), rubric=RUBRIC).status == "no_total"


@pytest.mark.parametrize(
    "reply",
    [
        '{"' * 50_000,
        '{"a":' * 50_000,
        "【总分】" + "1" * 100_000,
        "【总分】" * 25_000,
        "【" * 100_000,
        "【总分】" + " " * 100_000 + "5分",
        "【总分】" + "1+" * 50_000 + "1=5",
        "【总分】" + "十" * 100_000 + "分",
        "Total" + ":" * 100_000,
        "*" * 100_000,
        "【总分】1e" + "9" * 100_000,
    ],
    ids=lambda reply: reply[:12],
)
def test_hostile_replies_are_read_in_linear_time_and_give_no_total(reply: str) -> None:
    assert read_judge_reply(reply, Decimal(10)).total is None


@given(st.text(st.sampled_from("【总分】得:：0123456789.-+=/十百点分~约 e²*"), max_size=40))
def test_a_total_always_lies_within_full_marks(reply: str) -> None:
    reading = read_judge_reply(reply, Decimal(10))
    assert (reading.total is not None) == (reading.status == JudgeStatus.SCORED)
    assert reading.total is None or 0 <= reading.total <= 10


def test_released_replies_read_as_released_but_for_three_impossible_totals(
    shared_data: Path,
) -> None:
    unscored: dict[tuple[str, int], str] = {}
    different, unequal, count = [], [], 0
    for keyword, item in judged_items(shared_data):
        count += 1
        reading = read_judge_reply(item["model_correction"], Decimal(str(item["score"])))
        if reading.total is None:
            unscored[keyword, item["index"]] = reading.status
        elif reading.total != Decimal(str(item["model_correction_score"][0])):
            different.append((keyword, item["index"]))
        if "sum" in reading.details:
            named = (reading.details["sum"], reading.details["total"])
            unequal.append((keyword[10:29], item["index"], *named))
    assert unequal == [
        ("Chinese_Language_La", 7, "4.5", "5"),
        ("English_Language_Er", 3, "5", "4"),
        ("English_Language_Er", 19, "9", "8"),
        ("English_Language_Er", 23, "5", "4"),
        ("English_Language_Cl", 12, "10", "15"),
        ("English_Language_Cl", 16, "8.5", "7.5"),
        ("English_Language_Cl", 20, "10", "15"),
    ]
    assert count == 1030
    assert different == []
    writing = "2010-2022_Chinese_Language_Language_and_Writing_Skills_Open-ended_Questions"
    assert unscored == {
        ("2010-2022_Biology_Open-ended_Questions", 29): "several_totals",
        (writing, 2): "over_full_marks",
        ("2010-2022_Math_II_Open-ended_Questions", 12): "over_full_marks",
    }
