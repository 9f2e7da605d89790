"""What a teacher may know, and texts that name their own model."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from decimal import Decimal

import pytest

from evaluations.marking.rules.blinding import BlindItem, alias, names_model, self_mention

ALLOWED = {
    "public_id",
    "alias",
    "subject",
    "question_type",
    "year",
    "paper",
    "stem",
    "answer_key",
    "analysis",
    "full_marks",
    "step",
    "tolerance",
    "scoring_points",
    "point_groups",
    "response_text",
    "marking_notes",
}


def test_the_allow_list() -> None:
    assert {field.name for field in fields(BlindItem)} == ALLOWED


def test_a_blind_item_takes_nothing_more() -> None:
    text = dict.fromkeys(
        ALLOWED - {"year", "full_marks", "step", "tolerance", "scoring_points", "point_groups"}, ""
    )
    item = BlindItem(
        **text,
        year=2010,
        full_marks=Decimal(12),
        step=Decimal("0.5"),
        tolerance=Decimal(1),
        scoring_points=(),
        point_groups=(),
    )
    with pytest.raises((AttributeError, TypeError, FrozenInstanceError)):
        item.model = "canary"  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        item.alias = "R-0001"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("number", "name"), [(1, "R-0001"), (412, "R-0412"), (9999, "R-9999"), (12345, "R-12345")]
)
def test_alias(number: int, name: str) -> None:
    assert alias(number) == name


def test_aliases_count_from_one() -> None:
    with pytest.raises(ValueError, match="from 1"):
        alias(0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("As ChatGPT, I cannot see the picture.", ["As ChatGPT"]),
        ("Sorry. I am GPT-4 and ...", ["I am GPT-4"]),
        ("I'm Claude, an assistant made by Anthropic.", ["I'm Claude", "made by Anthropic"]),
        ("As an AI language model, Gemini, I think", ["As an AI language model, Gemini"]),
        ("My name is Qwen2.5-72B.", ["My name is Qwen2.5-72B"]),
        ("as a large language model trained by OpenAI", ["trained by OpenAI"]),
        ("作为文心一言，我认为", ["作为文心一言"]),
        ("我是由百度研发的人工智能模型", ["由百度研发"]),
        ("我是通义千问。\n作为一个AI助手豆包", ["我是通义千问", "作为一个AI助手豆包"]),
        ("我叫ChatGLM2-6B", ["我叫ChatGLM2-6B"]),
        ("我是讯飞星火认知大模型", ["我是讯飞星火认知大模型"]),
        ("As  \n ChatGPT", ["As ChatGPT"]),
    ],
)
def test_self_mentions_are_found(text: str, found: list[str]) -> None:
    assert self_mention(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ChatGPT was released in 2022 and set off a debate.",  # a text about it
        "Claude walked home as the sun set.",
        "As palm trees and moss grow, as llamas graze",
        "作为一个人工智能语言模型，我认为",  # names nobody
        "我是书生，海纳百川",
        "作为学生，我们应当努力。文心一言是一款产品",  # the sentence ends between
        "由人民创造历史",
        "The answer is B as shown by Google's map.",
    ],
)
def test_other_texts_are_left_alone(text: str) -> None:
    assert self_mention(text) == []


def test_long_texts_are_read_in_linear_time() -> None:
    # Quadratic matching would not come back from these within the life of a test run.
    for piece in (
        "as ",
        "I am a ",
        "作为",
        "由百度",
        "as a large language model ",
        "my name is an ",
    ):
        assert self_mention(piece * 50_000) == []
    assert self_mention("as" + " " * 500_000) == []


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("GPT-4 主观题", "gpt-4-0314"),
        ("ＧＰＴ ４，第二批", "gpt-4-0314"),
        ("history by chatgpt4", "gpt-4-0314"),
        ("gpt_4.0314", "gpt-4-0314"),
        ("GPT-3.5, physics", "gpt-3.5-turbo-0301"),
        ("Claude 3: essays", "claude-3-opus-20240229"),
        ("glm4", "THUDM/GLM-4-9B"),
        ("THUDM glm 4 9b", "THUDM/GLM-4-9B"),
        ("Claude Instant", "claude-instant"),
        ("文心一言 语文", "文心一言"),
        ("Kimi", "kimi"),
    ],
)
def test_a_text_names_a_model(text: str, model: str) -> None:
    assert names_model(text, model)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("", "gpt-4-0314"),
        ("Round 4", "gpt-4-0314"),
        ("2010-2022 主观题", "gpt-4-0314"),
        ("GPT-3.5, physics", "gpt-4-0314"),  # a model that is not the one asked about
        ("样卷评卷 Sample round", "sample-student-a"),
        ("Claude, the painter", "claude-3-opus-20240229"),  # the family without a number
        ("Studio 1, biology", "o1"),  # too short: by chance
        ("Physics, first batch", "Yi"),
        ("Round 2010", "2010-a"),  # no family before its number
        ("Round", ""),
    ],
)
def test_a_text_names_no_model(text: str, model: str) -> None:
    assert not names_model(text, model)
