"""Drafts from the marks that an answer key carries; the keys here are written for the test."""

from __future__ import annotations

import json
import time
from decimal import Decimal as D
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions.rules.rubric import PointGroup
from questions.rules.rubric_draft import Proposal, propose

DATA = Path(__file__).parents[3] / "shared" / "data" / "gaokao-bench" / "Data"


def proposed(key: str, *subs: int, analysis: str = "", question: str = "") -> Proposal | None:
    return propose(
        key=key, analysis=analysis, question=question, sub_marks=[D(sub) for sub in subs]
    )


def lines(key: str, *subs: int) -> list[tuple[str, str]]:
    proposal = proposed(key, *subs)
    return [(str(p.points), p.text) for p in proposal.rubric.points] if proposal else []


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        (
            "由牛顿第二定律列方程（2分）\n求得加速度 (3 分)",
            [("2", "由牛顿第二定律列方程"), ("3", "求得加速度")],
        ),
        ("解：$F=ma$【列方程 2分】，$a=2$【结果 3分】", [("2", "列方程"), ("3", "结果")]),
        ("列方程……2分\n求得结果 …… 3 分", [("2", "列方程"), ("3", "求得结果")]),
        ("x=1 \\cdots (2分) \n y=2 \\ldots$ （3分", [("2", "x=1"), ("3", "y=2")]),
        (
            "states the law (2 marks). Finds a = 2 [3 marks]",
            [("2", "states the law"), ("3", "Finds a = 2")],
        ),
        (
            "half of it (0.5 mark) and the rest (4.5 marks)",
            [("0.5", "half of it"), ("4.5", "and the rest")],
        ),
        ("写出两点（两分），其余（三分）", [("2", "写出两点"), ("3", "其余")]),
        ("（1）（2分）互利\n（2）（3分）共赢", [("2", "互利"), ("3", "共赢")]),
        (
            "第一问（2分）：思乡\n  第二问（3分）：忧国",
            [("2", "第一问 ：思乡"), ("3", "第二问 ：忧国")],
        ),
    ],
)
def test_marks_become_points_with_their_words(key: str, wanted: list[tuple[str, str]]) -> None:
    proposal = proposed(key, 5)
    assert proposal is not None
    assert lines(key, 5) == wanted
    assert proposal.adds_up
    assert proposal.basis == "key"


def test_marks_that_are_counted_up_are_taken_apart() -> None:
    key = "(I) 求得 $y$ (6 分)\n(II) 平均数为 76.4 (9 分)\n概率为 0.7 (12 分)"
    assert lines(key, 12) == [("6", "求得 $y$"), ("3", "平均数为 76.4"), ("3", "概率为 0.7")]
    # The same marks under different full marks are what they say.
    assert [points for points, _ in lines(key, 27)] == ["6", "9", "12"]


def test_sub_questions_with_marks_of_their_own_keep_their_points_apart() -> None:
    proposal = proposed("（1）甲（2分）\n（2）乙（1分）丙（2分）", 2, 3)
    assert proposal is not None
    assert [(p.sub, p.points) for p in proposal.rubric.points] == [(1, D(2)), (2, D(1)), (2, D(2))]
    assert proposal.adds_up


def test_points_of_one_kind_up_to_a_limit_are_a_group() -> None:
    proposal = proposed("①大方；②友善；③有分寸；④识大体。（每答出一点给2分，给满6分为止）", 6)
    assert proposal is not None
    assert [p.text for p in proposal.rubric.points] == ["大方", "友善", "有分寸", "识大体"]
    assert {p.group for p in proposal.rubric.points} == {1}
    assert proposal.rubric.groups == (PointGroup(D(6)),)
    assert proposal.adds_up


def test_any_two_of_three_is_a_group_that_chooses() -> None:
    proposal = proposed("①甲；②乙；③丙。（任答两点，每点2分）", 4)
    assert proposal is not None
    assert proposal.rubric.groups == (PointGroup(D(4), choose=2),)
    assert proposal.adds_up


def test_all_that_count_need_no_group() -> None:
    proposal = proposed("①甲；②乙。（每点2分）", 4)
    assert proposal is not None
    assert proposal.rubric.groups == ()
    assert [(p.text, p.points) for p in proposal.rubric.points] == [("甲", D(2)), ("乙", D(2))]


def test_of_graded_choices_two_count() -> None:
    proposal = proposed("答D给3分，答C给2分，答B给1分；答A和E不给分", 5)
    assert proposal is not None
    assert [p.text for p in proposal.rubric.points] == ["答 D", "答 C", "答 B"]
    assert proposal.rubric.groups == (PointGroup(D(5), choose=2),)
    assert proposal.adds_up


def test_one_point_each_is_read_from_the_question() -> None:
    proposal = proposed(
        "【答案】1. go改为went．考查时态\n2. 去掉the",
        2,
        question="短文改错（共2小题；每小题1分，满分2分）",
    )
    assert proposal is not None
    assert [p.text for p in proposal.rubric.points] == ["go改为went", "去掉the"]
    assert (proposal.basis, proposal.adds_up) == ("question", True)
    # Lines that do not come to the full marks are not split by force.
    assert proposed("1. a\n2. b\n3. c", 2, question="每小题1分") is None


def test_marks_in_the_analysis_serve_where_the_key_has_none() -> None:
    proposal = proposed("a=2", 3, analysis="列方程（2分）求得结果（1分）")
    assert proposal is not None
    assert proposal.basis == "analysis"


@pytest.mark.parametrize(
    "key",
    [
        "",
        "淋巴细胞",
        "90 分钟后，三分之二的人（5分钟）离开，十分惊恐",
        "要坚持一分为二（2分法）",
        "甲得 1 分，乙得 2 分，甲胜",
    ],
)
def test_where_no_mark_is_written_nothing_is_proposed(key: str) -> None:
    assert proposed(key, 6) is None


def test_a_sum_that_differs_is_said() -> None:
    proposal = proposed("甲（2分）乙（3分）", 6)
    assert proposal is not None
    assert not proposal.adds_up


@settings(max_examples=60)
@given(st.text(st.sampled_from("（()）【】[]…2分 3每点①②答D给任两第一问:：\nx"), max_size=400))
def test_no_text_breaks_the_reading(text: str) -> None:
    proposal = proposed(text, 6, analysis=text, question=text)
    if proposal is not None:
        assert all(point.text and point.points > 0 for point in proposal.rubric.points)


@pytest.mark.parametrize(
    "unit",
    ["（", "（ ", "（2", "…", ". . ", "（1）", "每点", "第一问（2分）", "答D给", "①", "\n  "],
)
def test_a_hostile_key_costs_little_time(unit: str) -> None:
    begun = time.process_time()
    proposed(unit * (50_000 // len(unit)), 6)
    assert time.process_time() - begun < 2


@pytest.mark.skipif(not DATA.is_dir(), reason="the published data is not here")
def test_the_published_keys_carry_marks_in_few_items() -> None:
    """45 of the 1,030 marked items of GAOKAO-Bench have marks to read; see docs/datasets.md."""
    found = []
    for file in sorted((DATA / "Subjective_Questions").glob("*.json")):
        for item in json.loads(file.read_text(encoding="utf-8"))["example"]:
            found.append(
                propose(
                    key=item["answer"],
                    analysis=item["analysis"],
                    question=item["question"],
                    sub_marks=[D(str(item["score"]))],
                )
            )
    assert len(found) == 1030
    proposals = [one for one in found if one]
    assert (len(proposals), sum(one.adds_up for one in proposals)) == (45, 28)
