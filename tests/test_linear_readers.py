"""No reader of strangers' text takes more than linear time, whatever is repeated in the text.

Times are compared with each other, never with a clock: four times the text may take about four
times as long, not sixteen times.
"""

from __future__ import annotations

import contextlib
import time
import unicodedata
from collections.abc import Callable, Mapping
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluations.judging.rules.judge_reply import read_judge_reply
from evaluations.marking.rules.blinding import names_model
from evaluations.reading.rules.extraction.blanks import read_exact_answer
from evaluations.reading.rules.extraction.cascade import read_answer
from evaluations.reading.rules.extraction.published import read_answer_published
from evaluations.reading.rules.extraction.published_agibench import read_agibench
from evaluations.reading.rules.extraction.published_agieval import read_agieval
from evaluations.reading.rules.scoring.error_texts import is_error_text
from evaluations.reading.rules.scoring.exact_match import exact_match, tokens
from evaluations.suggesting.rules.reply_json import one_object
from gradeapp.common.hidden_tex import drawn_tex, visible_tex
from gradeapp.common.hidden_text import hidden_kinds
from gradeapp.common.normal_form import normal_form
from gradeapp.rendering import Kind, render_text
from gradeapp.rendering.render import rendered
from gradeapp.rendering.source import tex_like
from questions.rules.options import option_groups
from questions.rules.part_marks import item_parts
from questions.rules.rubric_draft import propose
from questions.rules.search_words import search_text, snippet

pytestmark = pytest.mark.once
READERS: Mapping[str, Callable[[str], object]] = {
    "render": lambda text: render_text(text, kind=Kind.RESPONSE),
    "choice": lambda text: read_answer(text, "single_choice", "ABCD", 1),
    "choices": lambda text: read_answer(text, "multi_question_choice", "ABCD", 5),
    "blanks": lambda text: read_exact_answer(text, 3),
    "published": lambda text: read_answer_published(text, "multi_question_choice", 5),
    "agibench": read_agibench,
    "agieval": lambda text: read_agieval(text, "math"),
    "exact": lambda text: exact_match(text, text + "1"),
    "error": is_error_text,
    "judge": lambda text: read_judge_reply(text, Decimal(10)),
    "json": lambda text: one_object(text, "stop"),
    "rubric": lambda text: propose(key=text, analysis=text, question=text, sub_marks=[Decimal(9)]),
    "parts": lambda text: item_parts(question=text, key=text, analysis="", full_marks=Decimal(9)),
    "options": lambda text: option_groups(text, "ABCD"),
    "hidden": lambda text: (hidden_kinds(text), visible_tex(text), drawn_tex(text)),
}
PIECES = [
    *("\\(", "\\[", "$", "{", "}", "\\begin{", "\\boxed{", "\\frac{", "\\text{", "**", "`", "|"),
    *(
        "a|b\n-|-\n",
        "![",
        "](",
        "[",
        "(",
        "（",
        "【",
        "】",
        "【答案】",
        "【总分】",
        "答案是",
        "故选",
    ),
    *("The answer is ", "A", "A.", "(A)", "A B C D ", " ", "\n", "　", "1. ", "(1)", "①", "0", ","),
    *(
        "，",
        "。",
        "-",
        "_",
        "^{",
        "\\",
        "\\\\",
        "&",
        "=",
        "/",
        "<think>",
        "</think>",
        '{"',
        '"',
        "x+",
    ),
    *(
        "\\sqrt",
        "总分：",
        "Error: ",
        "\\color",
        "\\phantom{",
        "\\!",
        '\\char"0',
        "\u200b",
        "\u202e",
        "1:",
        "$1$",
        "e",
    ),
]


def seconds(reader: Callable[[str], object], text: str) -> float:
    """The best of two times of the processor."""
    times = []
    for number in range(2):
        rendered.cache_clear()
        started = time.process_time()
        with contextlib.suppress(ValueError):
            reader(text + "x" * number)  # another text, for what else keeps answers
        times.append(time.process_time() - started)
    return min(times)


@pytest.mark.parametrize(
    "reader",
    [
        lambda text: tokens(text, "en"),
        lambda text: snippet([text], ["zz"]),
        lambda text: search_text([text]),
        lambda text: names_model(text, "gpt-4"),
    ],
)
def test_marks_in_a_row_are_normalized_in_linear_time(reader: Callable[[str], object]) -> None:
    """20,000 of each took seconds, and kept all of the process waiting."""
    long, short = ("a" + "\u0301" * size + "\u0316" * size for size in (8_000, 2_000))
    assert seconds(reader, long) < 9 * max(seconds(reader, short), 0.02)


def test_text_of_a_language_is_normalized_as_it_is() -> None:
    for text in ("é ａＢ ㎡", "e\u0301\u0323", "q\u0307\u0323" * 50, "ཱི", "ạ́" * 9):
        assert normal_form("NFKC", text) == unicodedata.normalize("NFKC", text)
    assert normal_form("NFC", "a" + "\u0316" * 31) == "a" + "\u0316" * 30 + "\u034f\u0316"


@pytest.mark.parametrize("text", ["1" + "," * 40_000, "1" + ", " * 20_000, "1" + "." * 40_000])
def test_an_amount_is_read_in_linear_time(text: str) -> None:
    """20,000 commas took three seconds."""
    least = 0.02
    assert seconds(tex_like, text) < 9 * max(seconds(tex_like, text[: len(text) // 4]), least)


@pytest.mark.parametrize("blank", [" ", "\t", "\u3000"])
def test_options_after_a_run_of_blanks_are_read_in_linear_time(blank: str) -> None:
    """2,600 blanks took a minute and killed the web process."""
    long, short = (f"Which?{blank * size}a\nA. 1\nC. 3" for size in (2_000, 500))
    least = 0.02
    assert seconds(lambda text: option_groups(text, "ABCD"), long) < 9 * max(
        seconds(lambda text: option_groups(text, "ABCD"), short), least
    )


def test_what_is_an_amount() -> None:
    for text in ("5 per item", " 1,000.50, or", "5) of", "5;\nof"):
        assert not tex_like(text), text
    for text in ("5", "5x", "1,000ab", "5 x", "5.ab"):
        assert tex_like(text), text


@pytest.mark.parametrize("name", READERS)
@settings(max_examples=6, deadline=None)
@given(unit=st.lists(st.sampled_from(PIECES), min_size=1, max_size=3).map("".join))
def test_a_text_of_repeats_is_read_in_linear_time(name: str, unit: str) -> None:
    reader = READERS[name]
    short, long = (unit * (size // len(unit)) for size in (10_000, 40_000))
    least = 0.02  # below it the clock is too coarse for a ratio
    assert seconds(reader, long) < 9 * max(seconds(reader, short), least)
