"""The published readings of the three benchmarks, by table and against what they released."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.reading.rules.extraction.published import read_answer_published
from evaluations.reading.rules.extraction.published_agibench import PATTERNS, read_agibench
from evaluations.reading.rules.extraction.published_agieval import read_agieval
from evaluations.statistics.outcomes import ReadingOutcome
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
def test_gaokao_bench_is_read_as_published(
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
    assert (
        read_answer_published(hostile, "multi_question_choice", 1).outcome
        is ReadingOutcome.NO_ANSWER
    )


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


@pytest.mark.parametrize(
    ("output", "task", "setting", "answer"),
    [
        ("Because the answer is C", "lsat-ar", "zero-shot", "B"),
        ("the answer is (c)", "lsat-ar", "zero-shot", None),
        ("G is right, then F", "sat-en", "zero-shot", "F"),
        ("Because the answer is C", "lsat-ar", "few-shot", "C"),
        ("answer is none\nthe answer is (G)", "lsat-ar", "few-shot", "G"),
        ("D。答案是选项B", "logiqa-zh", "few-shot", "B"),
        ("the answer is C", "logiqa-zh", "few-shot", "C"),
        ("A first\nSo the answer is D\n\n", "sat-en", "few-shot-CoT", "D"),
        # Without the wording in the last line the first capital of the whole text counts.
        ("Both fit.\nThe answer is C\nso it is D", "sat-en", "few-shot-CoT", "B"),
        ("答案是D\n因此选C", "logiqa-zh", "few-shot-CoT", "D"),
        ("(C) and\nthe answer is none", "lsat-ar", "few-shot-CoT", "C"),
        ("选(C)\n故选A", "jec-qa-kd", "few-shot-CoT", "A"),
        ("选(C)和A，不选G", "jec-qa-kd", "zero-shot", "AC"),
        ("AABC", "gaokao-physics", "zero-shot", "ABC"),
        ("无", "jec-qa-ca", "zero-shot", None),
        ("so \\boxed{x = \\frac{1}{2}} is it, $y=3$", "math", "zero-shot", "\\frac{1}{2}"),
        ("\\boxed{1} and \\boxed{2", "math", "zero-shot", None),
        ("\\boxed 7", "math", "zero-shot", None),
        ("$a$ and $b=4$", "math", "zero-shot", "4"),
        ("$5$;$10$", "gaokao-mathcloze", "zero-shot", "5$;$10"),
        ("so x = 3, y = 4.", "math", "zero-shot", "4"),
        ("it is 12.5 or $3", "math", "zero-shot", "$3"),
        ("about 12.5x", "math", "zero-shot", "12"),
        ("first 2, 答案是 7个", "gaokao-mathcloze", "zero-shot", None),
        ("first 2, 答案是 7 .", "gaokao-mathcloze", "zero-shot", "7"),
        ("The answer is therefore $\\pi$", "math", "few-shot", "$\\pi$"),
        ("", "math", "zero-shot", None),
    ],
)
def test_agieval_is_read_as_released(
    output: str, task: str, setting: str, answer: str | None
) -> None:
    reading = read_agieval(output, task, setting=setting)
    assert reading.answers == (answer,)
    assert reading.outcome is (ReadingOutcome.NO_ANSWER if answer is None else ReadingOutcome.READ)


def test_the_span_of_agieval_is_that_of_the_answer() -> None:
    reading = read_agieval("first\nthe answer is D\n", "sat-en", setting="few-shot-CoT")
    assert [reading.spans[0]] == [(10, 21)]


@pytest.mark.parametrize(
    "text",
    [
        "answer is " * 10_000,
        "9" * 100_000 + "x",
        "$" * 100_000,
        "\\boxed{" + "{" * 100_000,
        "=" * 99,
    ],
)
@pytest.mark.parametrize("task", ["math", "lsat-ar", "jec-qa-kd"])
@pytest.mark.parametrize("setting", ["zero-shot", "few-shot", "few-shot-CoT"])
def test_agieval_reads_hostile_texts_in_linear_time(text: str, task: str, setting: str) -> None:
    assert len(read_agieval(text, task, setting=setting).answers) == 1


@given(st.text(), st.sampled_from(["math", "gaokao-mathcloze", "logiqa-zh", "jec-qa-ca"]))
def test_agieval_reads_one_answer_inside_any_text(text: str, task: str) -> None:
    reading = read_agieval(text, task)
    for span in reading.spans:
        assert span is None or 0 <= span[0] <= span[1] <= len(text)


NINTH = re.compile(r"^(?:答案[:：]\s?)?((?:[A-Z]\s?[、\s\.-]?\s?)+)。?$")
SENTENCE = (
    "作为一个人工智能语言模型,我还没学习如何回答这个问题,"
    "您可以向我问一些其它的问题,我会尽力帮您解决的。"
)


@pytest.mark.parametrize(
    ("output", "row", "answer"),
    [
        ("经过分析，答案是C。", 1, "C"),
        ("【答案】B", 1, "B"),
        ("答案和原因为:选项D,其余不对。", 1, "D"),
        ("答案：A", 1, "A"),  # the full-width colon that the printed class lost
        ("答案:A", 1, "A"),
        ("A. 因为水会蒸发", 2, "A"),
        ("选项 B,理由如下", 2, "B"),
        ("C，理由如下", 2, "C"),
        ("这道题应选择 D选项。", 3, "D"),
        ("The answer is: B.", 4, "B"),
        ('The solution to this question is "C"', 4, "C"),
        (SENTENCE, 5, None),
        (SENTENCE.replace(",", "，"), 5, None),
        ("D", 6, "D"),
        ("A. 同意A的说法", 7, "A"),
        ("因此 B 是正确答案", 8, "B"),
        ("所以 B|正确答案", 8, "B"),  # the printed class holds a vertical bar
        ("B、A、D", 9, "ABD"),
        ("A  C\n", 9, "AC"),
        ("", 10, None),
        (" \n ", 10, None),
        # Row 1 needs that no other capital follows before the end of the sentence.
        ("答案是A,不是B和C,因为D", None, None),
        ("我不知道。", None, None),
    ],
)
def test_agibench_reads_by_each_row_of_table_5(
    output: str, row: int | None, answer: str | None
) -> None:
    read = read_agibench(output)
    assert read.pattern == (f"agibench.{row}" if row else "")
    assert read.answers == (answer,)
    assert read.outcome == ("read" if answer else "refused" if row == 5 else "no_answer")
    if answer and len(answer) == 1 and read.spans[0]:
        assert output[slice(*read.spans[0])] == answer


def test_the_first_row_in_printed_order_counts() -> None:
    """Row 1 reads A in the first sentence, row 3 would read B in the second."""
    assert read_agibench("答案是A。选择B。").answers == ("A",)


@given(st.text(alphabet="AB 、.-。\n答案:：", max_size=24))
def test_the_ninth_row_matches_what_is_printed(text: str) -> None:
    printed, ours = NINTH.search(text), dict(PATTERNS)[9].search(text)
    assert (printed is None) == (ours is None)
    if printed and ours:
        assert re.findall("[A-Z]", printed[1]) == re.findall("[A-Z]", ours[1])


@pytest.mark.parametrize(
    "hostile",
    [
        "A  " * 30_000 + "1",
        "答案" * 50_000,
        "A.A" * 30_000 + "B",
        "选择" * 50_000,
        "\n" * 90_000 + "x",
    ],
)
def test_agibench_reads_hostile_texts_in_linear_time(hostile: str) -> None:
    started = time.process_time()
    read_agibench(hostile)
    assert time.process_time() - started < 2


@pytest.mark.shareddata
def test_the_patterns_are_those_of_the_paper(shared_data: Path) -> None:
    """Apart from the widths of colons and commas, and the blanks of row 9."""
    paper = json.loads((shared_data / "papers" / "agibench.json").read_text(encoding="utf-8"))
    (table,) = (one for one in paper["tables"] if one["id"] == "table-5")
    printed = {one["key"]["order"]: one["labels"]["pattern"] for one in table["rows"]}
    for row, pattern in PATTERNS:
        ours = pattern.pattern.replace("[:：]", "[::]").replace(",，", ",").replace("[,]", ",")
        wanted = printed[row].replace('\\"', '"')
        assert row == 9 or ours.replace('\\"', '"') == wanted


@pytest.mark.shareddata
def test_every_key_is_read_however_the_paper_saw_it_written(shared_data: Path) -> None:
    """All 927 keys: also F, which is not on offer, is read as the letter it is."""
    items = json.loads((shared_data / "agibench" / "datasets.json").read_text(encoding="utf-8"))
    keys = [item["Answer"].strip() for item in items]
    assert len(keys) == 927
    for wording in ("{}", "答案是{}。", "【答案】{}", "{}. 理由如下", "The answer is {}."):
        read = [read_agibench(wording.format(key)).answers for key in keys]
        assert read == [(key,) for key in keys]
