"""AGIBench's published patterns: each row of table 5, their order, misprints and time."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.reading.rules.extraction.published_agibench import PATTERNS, read_agibench

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
def test_each_row_of_table_5(output: str, row: int | None, answer: str | None) -> None:
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
def test_no_text_makes_it_slow(hostile: str) -> None:
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
