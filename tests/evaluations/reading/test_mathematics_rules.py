"""Final answers of mathematical outputs and of blanks: spans, outcomes, caps, real golds.

The table of cases is tests/cases/math.json, which check_cases runs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.reading.rules.extraction.blanks import read_exact_answer
from evaluations.reading.rules.scoring.math_equivalence import equivalent
from evaluations.statistics.outcomes import ReadingOutcome

PIECES = [
    *("the answer is ", "答案", "是", "为", "【答案】", "<eoa>", r"\boxed{", "}", "{", "$", "$$"),
    *("5", "x=1", ";", "；", "，", ",", "。", ". ", "\n", "(1)", "(2)", "①", "②", "第一空"),
    " and ",
    *("so ", "因此", r"\(", r"\)", r"\[", r"\]", "<think>", "</think>", "\u200b", "\0", "不"),
    "not ",
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=16).map("".join) | st.text(max_size=40))
def test_every_output_is_read_with_one_answer_or_gap_for_each_blank(output: str) -> None:
    for parts in (1, 2, 3):
        for truncated in (False, True):
            reading = read_exact_answer(output, parts, truncated=truncated)
            assert len(reading.answers) == len(reading.spans) == parts
            assert (reading.outcome is ReadingOutcome.READ) == any(
                a is not None for a in reading.answers
            )
            for answer, span in zip(reading.answers, reading.spans, strict=True):
                assert (answer is None) == (span is None)
                assert span is None or 0 <= span[0] < span[1] <= len(output)


@pytest.mark.parametrize(
    ("output", "parts", "evidence"),
    [
        ("So we get \\boxed{\\frac{3}{4}}.", 1, ["\\frac{3}{4}"]),
        ("the\u200b answer is 1,\u200b234.", 1, ["1,\u200b234"]),
        ("<think>the answer is 5</think>所以答案是 $x＝6$。", 1, ["$x＝6$"]),
        ("【答案】（1）5（2）\\frac12<eoa>", 2, ["5", "\\frac12"]),
        ("5；10", 2, ["5", "10"]),
    ],
)
def test_the_span_is_the_evidence_in_the_original_output(
    output: str, parts: int, evidence: list[str]
) -> None:
    spans = read_exact_answer(output, parts).spans
    assert [output[slice(*span)] if span else None for span in spans] == evidence


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("The answer is 12", ReadingOutcome.TRUNCATED),  # perhaps 120
        ("The answer is 12. We check it by", ReadingOutcome.READ),
        ("So \\boxed{12}", ReadingOutcome.READ),
        ("So \\boxed{12", ReadingOutcome.TRUNCATED),
        ("【答案】12<eoa>", ReadingOutcome.READ),
        ("Let us begin with", ReadingOutcome.TRUNCATED),
    ],
)
def test_an_answer_at_the_cut_is_not_certain(output: str, outcome: ReadingOutcome) -> None:
    assert read_exact_answer(output, 1, truncated=True).outcome is outcome


def test_more_or_fewer_answers_than_blanks_are_ambiguous() -> None:
    assert read_exact_answer("答案为 5", 2).outcome is ReadingOutcome.AMBIGUOUS
    assert read_exact_answer("答案为 5；6；7", 2).outcome is ReadingOutcome.AMBIGUOUS
    gap = read_exact_answer("【答案】（2）7", 2)
    assert (gap.outcome, gap.answers) == (ReadingOutcome.READ, (None, "7"))


def test_of_two_styles_of_numbers_the_first_one_divides_the_answers() -> None:
    """The order was that of a set of strings, so it differed from process to process."""
    third = "(3)略,第一个空填甲。第二个空填乙。\n【答案】B"
    text = f"(1)略。\n【答案】D\n(2)略。\n【答案】C\n{third}"
    assert read_exact_answer(text, 2).answers == ("D", "C")


HOSTILE = {
    "digits": "9" * 100_000,
    "backslashes": "\\" * 100_000,
    "brackets": "(" * 100_000,
    "braces": "{" * 10_000 + "1" + "}" * 10_000,
    "opened boxes": "\\boxed{" * 10_000,
    "dollars": "$" * 100_000,
    "opened formulas": "\\(" * 50_000,
    "lines": "\n" * 100_000,
    "wordings": "so is " * 16_000,
    "answer to": "answer to " * 10_000,
    "numbers": "(1) " * 25_000,
    "semicolons": ";" * 100_000,
    "bidi": "\u202e5\u202c" * 30_000,
    "NUL": "\0" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("parts", [1, 3])
def test_hostile_outputs_are_given_up(name: str, parts: int) -> None:
    assert read_exact_answer(HOSTILE[name], parts).outcome in (
        ReadingOutcome.NO_ANSWER,
        ReadingOutcome.AMBIGUOUS,
    )


def test_of_nested_boxes_the_innermost_is_the_answer() -> None:
    nested = "\\boxed{" * 10_000 + "1" + "}" * 10_000
    assert read_exact_answer(nested, 1).answers == ("1",)
    assert read_exact_answer(nested, 3).outcome is ReadingOutcome.AMBIGUOUS


def test_an_answer_behind_a_hostile_text_is_read() -> None:
    for text in HOSTILE.values():
        if "\\" not in text and "$" not in text:
            assert read_exact_answer(f"{text}\nThe answer is 7.", 1).answers == ("7",)


BOX = r"\boxed{"


def bare(blank: str) -> str:
    """A gold blank without the dollars around it."""
    single = blank.startswith("$") and blank.endswith("$") and blank.count("$") == 2
    return blank[1:-1] if single else blank


def wrapped(blanks: list[str], before: str, after: str, between: str = "; ") -> str:
    """The blanks without their dollars, each between *before* and *after*."""
    return between.join(f"{before}{bare(blank)}{after}" for blank in blanks)


Form = Callable[[list[str]], str]
FORMS: dict[str, Form] = {
    "bare": "; ".join,
    "tagged": lambda blanks: f"【解析】略<eoe>\n【答案】{'；'.join(blanks)}<eoa>",
    "english": lambda blanks: f"We compute. The final answer is {'; '.join(blanks)}.",
    "chinese": lambda blanks: f"由题意得 $t=1$，所以答案是{'；'.join(blanks)}。",
    "boxed": lambda blanks: f"So {wrapped(blanks, '$' + BOX, '}$', ', ')}.",
    "dollars": lambda blanks: wrapped(blanks, "$", "$", "；"),
    "dollars in a sentence": lambda blanks: (
        f"Let $a=1$. The answer is {wrapped(blanks, '$', '$')}."
    ),
    "brackets": lambda blanks: "故答案为：" + wrapped(blanks, r"\(", r"\)", "；") + "。",
}


@pytest.mark.shareddata
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("task", "count"), [("gaokao-mathcloze", 118), ("math", 1000)])
def test_every_gold_answer_is_read_and_equal_in_every_form(
    shared_data: Path, task: str, count: int, form: str
) -> None:
    lines = (shared_data / "agieval" / "v1" / f"{task}.jsonl").read_text("utf-8").splitlines()
    lost = []
    for line in lines:
        gold = json.loads(line)["answer"].strip()
        blanks = gold.split(";") if task == "gaokao-mathcloze" else [gold]
        reading = read_exact_answer(FORMS[form](blanks), len(blanks))
        pairs = zip(blanks, reading.answers, strict=True)
        if not all(answer and equivalent(blank, answer).equal for blank, answer in pairs):
            lost.append((gold, reading))
    assert (len(lines), lost) == (count, [])
