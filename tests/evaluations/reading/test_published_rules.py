"""The published reading, by table and against every released objective answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.reading.rules.extraction.published import read_answer_published
from evaluations.reading.rules.extraction.reading import Outcome
from tests.evaluations.published_files import objective_items

OBJECTIVE_TYPES = ("single_choice", "multi_choice", "multi_question_choice", "five_out_of_seven")


@pytest.mark.parametrize(
    ("output", "question_type", "parts", "answers"),
    [
        ("【答案】A <eoa>", "single_choice", 1, ("A",)),
        ("【答案】A <eoa> 因为B错", "single_choice", 1, ("B",)),
        ("【答案】a", "single_choice", 1, ()),
        ("（1）【答案】 B <eoa>（2）【答案】：C", "multi_question_choice", 2, ("B", "C")),
        ("NaCl【答案】 B <eoa>", "multi_question_choice", 2, ("N", "C")),
        ("B", "multi_question_choice", 3, ("B",)),
        ("【答案】AC", "multi_choice", 1, ("AC",)),
        ("【答案】AC，其余各项的说法都是不符合题意的", "multi_choice", 1, ()),
        ("解【答案】A、C。B错", "multi_choice", 1, ("ACB",)),
        ("B C 一二三四五六七八九", "multi_choice", 1, ("C",)),
        ("【答案】C F A E D <eoa>", "five_out_of_seven", 5, ("C", "F", "A", "E", "D")),
        ("Gap 1: C", "five_out_of_seven", 5, ("G", "C")),
    ],
)
def test_reads_as_published(
    output: str, question_type: str, parts: int, answers: tuple[str, ...]
) -> None:
    assert read_answer_published(output, question_type, parts).answers == answers


def test_spans_show_the_letters_in_the_original_text() -> None:
    output = "（1）【答案】 B <eoa>\n（2）【答案】 C <eoa>"
    reading = read_answer_published(output, "multi_question_choice", 2)
    assert [output[slice(*span)] for span in reading.spans if span] == ["【答案】 B", "【答案】 C"]


def test_a_type_that_is_not_scored_by_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="not an objective question type"):
        read_answer_published("A", "cloze", 1)


def test_a_long_run_of_blanks_is_read_in_linear_time() -> None:
    hostile = "【答案】" + " " * 100_000
    assert read_answer_published(hostile, "multi_question_choice", 1).outcome is Outcome.NO_ANSWER


@given(st.text(max_size=60), st.sampled_from(OBJECTIVE_TYPES), st.integers(1, 5))
def test_never_raises_and_spans_lie_inside(output: str, question_type: str, parts: int) -> None:
    reading = read_answer_published(output, question_type, parts)
    assert all(span and 0 <= span[0] < span[1] <= len(output) for span in reading.spans)


def test_equals_every_released_answer(shared_data: Path) -> None:
    items = list(objective_items(shared_data))
    different = [
        (keyword, item["index"])
        for keyword, question_type, item in items
        if list(
            read_answer_published(
                item["model_output"], question_type, len(item["standard_answer"])
            ).answers
        )
        != item["model_answer"]
    ]
    assert len(items) == 1781
    assert different == []
