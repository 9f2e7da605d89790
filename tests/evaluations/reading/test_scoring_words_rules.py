"""AGIEval's exact match with its quirks, and F1 over tokens worked by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.reading.rules.scoring.exact_match import exact_match, f1, published_form, tokens


@pytest.mark.parametrize(
    ("gold", "answer", "equal"),
    [
        ("5", "5", True),
        ("5", "5.0", False),  # no value is computed
        ("50", r"50\%", True),  # a percent sign falls away
        ("50", "50%", False),  # but not without its backslash
        ("90", r"90^\circ", True),
        ("17", r"17\text{ meters}", True),
        ("17", r"17\text{meters}", False),  # only with the space inside
        ("x=5", "5", True),
        ("xyz=5", "5", False),
        (r"\frac{1}{2}", "0.5", True),
        (r"\frac{1}{4}", "0.25", False),
        (r"\frac{1}{2}", r"\dfrac12", True),
        (r"\frac{3}{7}", "3/7", True),
        (r"\frac{3}{7}", "03/7", False),
        (r"\sqrt{3}", r"\sqrt3", True),
        ("0.5x", ".5x", True),
        (r"\left(1,2\right)", "(1, 2)", True),
        ("(1,2)", "(2,1)", False),
        (r"\$10", "10", True),
        ("12,000", r"12,\!000", True),
        ("12,000", "12000", False),
        (r"\frac1", r"\frac1", True),
        (r"\sqrt", r"\sqrt", True),  # no normal form: compared as they are
        (r"\sqrt", r" \sqrt", False),
        ("5", "", False),
        ("", "", False),
    ],
)
def test_exact_match_is_as_published(gold: str, answer: str, equal: bool) -> None:
    assert exact_match(gold, answer) is equal


def test_the_published_form_is_what_the_released_program_makes() -> None:
    assert published_form(r"\tfrac{ 8\pi}5") == r"\frac{8\pi}5"
    assert published_form(r"\frac1{72}") == r"\frac{1}{72}"
    assert published_form(r"\text{ cm} ") == ""


@given(st.text(alphabet="\\frac{}sqt 12/=.%x$"), st.text(alphabet="\\frac{}sqt 12/=.%x$"))
def test_exact_match_is_symmetric_but_for_nothing(one: str, other: str) -> None:
    if one.strip() and other.strip():
        assert exact_match(one, other) is exact_match(other, one)


@pytest.mark.shareddata
@pytest.mark.parametrize("task", ["gaokao-mathcloze", "math"])
def test_every_gold_matches_itself(shared_data: Path, task: str) -> None:
    lines = (shared_data / "agieval" / "v1" / f"{task}.jsonl").read_text("utf-8").splitlines()
    golds = [json.loads(line)["answer"] for line in lines]
    assert all(exact_match(gold, gold) for gold in golds)


@pytest.mark.parametrize(
    ("gold", "answer", "language", "expected"),
    [
        # 2 common of 3 given and 2 wanted (the article is none): P 2/3, R 1, F1 = 4/5
        ("the red fox", "A quick red fox!", "en", 4 / 5),
        ("red fox", "red fox", "en", 1.0),
        ("red fox", "blue whale", "en", 0.0),
        # "to" once of twice: 1 common of 2 given and 4 wanted: P 1/2, R 1/4, F1 = 1/3
        ("to be to see", "to go", "en", 1 / 3),
        # 明月光 against 床前明月光: 3 common, P 3/3, R 3/5, F1 = 3/4
        ("床前明月光", "明月光", "zh", 3 / 4),
        # punctuation is no token: 4 common of 4 and 4
        ("春眠，不觉", "春眠不觉。", "zh-hans", 1.0),
        # a year is one token: 2024, 年 of 2024, 年, 初: P 2/3, R 1
        ("2024年", "2024年初", "zh", 4 / 5),
        # signs that SQuAD counts as punctuation are no tokens; nor is a sign of its own
        ("30", "$30$", "en", 1.0),
        ("x^2", "x2", "en", 1.0),
        ("5", "= +5 <>", "en", 1.0),
        ("$x = 5$", "x 5", "en", 1.0),
        # but a number is: 1 common of 2 given and 1 wanted: P 1/2, R 1
        ("30", "$30 each", "en", 2 / 3),
        ("红", "", "zh", 0.0),
        ("", "", "en", 0.0),
    ],
)
def test_f1_is_worked_by_hand(gold: str, answer: str, language: str, expected: float) -> None:
    assert f1(gold, answer, language) == pytest.approx(expected)


def test_tokens_are_words_or_characters() -> None:
    assert tokens("The U.S. army's tank", "en") == ["us", "armys", "tank"]
    assert tokens("ＤＮＡ 是双螺旋", "zh") == ["dna", "是", "双", "螺", "旋"]


@given(st.text(), st.text(), st.sampled_from(["en", "zh"]))
def test_f1_is_symmetric_and_between_0_and_1(one: str, other: str, language: str) -> None:
    value = f1(one, other, language)
    assert 0 <= value <= 1
    assert value == pytest.approx(f1(other, one, language))
