"""Every code of a report in words."""

from __future__ import annotations

import re

import pytest
from django.core.paginator import Paginator
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils import translation

from evaluations.facts.words import REASONS
from evaluations.judging.rules.judge_reply import (
    READ_FROM_WORDING,
    STEPS_DO_NOT_ADD_UP,
    TOTAL_REPEATED,
)
from evaluations.reports.selectors.scored_answers import KEY_REPAIRED, NO_KEY, NOT_JUDGED, UNMARKED
from evaluations.statistics.gaokao_750 import STREAMS
from evaluations.statistics.outcomes import JudgeStatus
from evaluations.statistics.rows import ScoredAnswer
from evaluations.templatetags import figures
from questions.rules.vocabulary import ItemStatus, Stream
from tests.evaluations.statistics.statistics_rows import answered, marked

CODES = [
    *JudgeStatus,
    *(READ_FROM_WORDING, STEPS_DO_NOT_ADD_UP, TOTAL_REPEATED),
    *("no_answers", "not_answered"),
    *("no_data", "too_few_pairs", "no_variance", "too_few_repeats", "only_two_repeats"),
    *(UNMARKED, NOT_JUDGED, KEY_REPAIRED.reason, NO_KEY.reason),
    *(ItemStatus.QUARANTINED.value, ItemStatus.EXCLUDED.value),
]


@pytest.mark.parametrize("code", CODES)
def test_every_reason_has_words_of_its_own(code: str) -> None:
    assert str(REASONS[code]) not in ("", code)


def whole_stream(part: str) -> str:
    return ",".join(f"{subject}/{part}" for subject in STREAMS[Stream.SCIENCES])


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("missing:Physics/subjective", "no subjective marks in Physics"),
        (
            "missing:Physics/objective,Physics/subjective,Biology/subjective",
            "no objective scores in Physics; no subjective marks in Physics, Biology",
        ),
        (
            "missing:Chinese/objective,English/objective,Physics/objective,Biology/objective",
            "no objective scores in Chinese, English, Physics and 1 more",
        ),
        (f"missing:{whole_stream('subjective')}", "no subjective marks"),
        ("a_code_of_tomorrow", "a code of tomorrow"),
    ],
)
def test_reasons(code: str, words: str) -> None:
    assert figures.reason_words(code) == words


def test_a_missing_subject_is_named_in_the_readers_language() -> None:
    with translation.override("zh-hans"):
        assert "物理" in figures.reason_words("missing:Physics/subjective")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (answered(outcome="correct"), "Correct"),
        (marked(points=3.0), "Partly correct"),
        (marked(points=None, outcome="not_scored", reason="no_total"), "no total"),
        (answered(points=None, outcome="api_error", reason="api_error"), "API error"),
        (answered(points=None, outcome="excluded", reason="excluded"), "Excluded"),
    ],
)
def test_outcomes(row: ScoredAnswer, words: str) -> None:
    found = figures.outcome_words(row)
    assert found.endswith(words) or words in found


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ("key", "answer key"),
        ("teachers", "teachers"),
        ("judge:a b", "judge model a b"),
        ("", "none yet"),
    ],
)
def test_markers(marker: str, words: str) -> None:
    assert words in figures.marker_name(marker)


def test_a_report_says_of_how_many_questions_it_is() -> None:
    left_out = {"excluded": 1, "quarantined": 2}
    assert figures.items_words({"items": 927, "left_out": left_out}) == (
        "924 of 927 questions (1 excluded · 2 quarantined)"
    )
    assert figures.items_words({"items": 927, "left_out": {}}) == ""
    with translation.override("zh-hans"):
        assert figures.items_words({"items": 927, "left_out": {"excluded": 1}}) == (
            "927题中计入926题（1 剔除）"
        )


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_large_numbers_have_their_thousands_apart(language: str, rf: RequestFactory) -> None:
    left_out = {ItemStatus.QUARANTINED.value: 1027}
    page = Paginator(range(12_090), 50).page(30)
    with translation.override(language):
        words = figures.items_words({"items": 2811, "left_out": left_out})
        assert {"1,784", "2,811", "1,027"} <= set(re.findall(r"[\d,]+\d", words))
        assert "1,030" in figures.rows_words(1030)
        shown = render_to_string("components/_pagination.html", {"page": page}, rf.get("/"))
        assert {"1,451", "1,500", "12,090"} <= set(re.findall(r"[\d,]+\d", shown))
