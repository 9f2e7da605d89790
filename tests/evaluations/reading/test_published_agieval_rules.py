"""AGIEval's released reading, quirks included; expected values follow its program by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.reading.rules.extraction.published_agieval import read_agieval
from evaluations.reading.rules.extraction.reading import Outcome


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
def test_as_released(output: str, task: str, setting: str, answer: str | None) -> None:
    reading = read_agieval(output, task, setting=setting)
    assert reading.answers == (answer,)
    assert reading.outcome is (Outcome.NO_ANSWER if answer is None else Outcome.READ)


def test_the_span_is_where_the_answer_stands() -> None:
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
def test_hostile_texts_end(text: str, task: str, setting: str) -> None:
    assert len(read_agieval(text, task, setting=setting).answers) == 1


@given(st.text(), st.sampled_from(["math", "gaokao-mathcloze", "logiqa-zh", "jec-qa-ca"]))
def test_any_text_has_one_answer_inside_it(text: str, task: str) -> None:
    reading = read_agieval(text, task)
    for span in reading.spans:
        assert span is None or 0 <= span[0] <= span[1] <= len(text)
