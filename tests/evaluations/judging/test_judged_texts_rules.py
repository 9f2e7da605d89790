"""What is not sent to a judge, and which model answered."""

from __future__ import annotations

import pytest

from evaluations.judging.rules.judged_texts import MOST_CHARACTERS, withheld
from evaluations.runs.rules.endings import same_model
from evaluations.statistics.outcomes import JudgeStatus

pytestmark = pytest.mark.once

MASTER_KEYS = [
    *("", " \n", ":", ".", ",", "...", "【】", "***", "\u200b\u200b", "—"),
    *("Solution", "**Solution:**", "Thought process:", "Let's think step by step.", "Answer:"),
    *(
        "Let's solve this problem step by step.",
        "解：",
        "解",
        "【解析】",
        "答：",
        "かいせつ",
        "Respuesta",
    ),
]


@pytest.mark.parametrize("text", MASTER_KEYS)
def test_a_response_without_content_is_not_sent(text: str) -> None:
    assert withheld(text) is JudgeStatus.NO_CONTENT


@pytest.mark.parametrize("text", ["x=3", "0", "对", "解：x=3", "A", "略", "Solution: 4", "½", "√2"])
def test_a_short_response_is_sent(text: str) -> None:
    assert withheld(text) is None


def test_a_very_long_response_is_not_sent() -> None:
    assert withheld("a" * 10**6) is JudgeStatus.OVERSIZE
    assert withheld("a" * MOST_CHARACTERS) is None


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("openai/gpt-4o", "gpt-4o", True),
        ("Qwen2.5-72B-Instruct", "qwen/qwen2.5-72b-instruct", True),
        ("scripted-demo", "scripted-demo", True),
        ("gpt-4o", "gpt-3.5-turbo", False),
        ("gpt-4", "gpt-4o", False),
        ("deepseek-r1", "deepseek-v3", False),
    ],
)
def test_the_model_that_answered_is_compared(asked: str, answered: str, same: bool) -> None:
    assert same_model(asked, answered) is same
