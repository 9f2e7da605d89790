"""Prompts and settings: what is asked, and that equal settings have equal fingerprints."""

from __future__ import annotations

from dataclasses import replace

import pytest

from evaluations.conditions import Asking, OptionOrder, PromptSetting, Sampling, read_condition
from evaluations.runs.rules.prompting.zero_shot import zero_shot_messages
from questions.rules.vocabulary import Language, QuestionType

HOSTILE_STEM = "若 {x} 与 {0.__class__} 之和为 %s，$\\frac{1}{2}$"


@pytest.mark.parametrize("question_type", list(QuestionType))
@pytest.mark.parametrize("language", list(Language))
def test_every_type_is_asked_in_its_language(
    question_type: QuestionType, language: Language
) -> None:
    messages = zero_shot_messages(question_type, "物理", HOSTILE_STEM, language, 2, "ABCD")
    assert [message["role"] for message in messages] == ["system", "user"]
    assert messages[1]["content"] == HOSTILE_STEM
    system = messages[0]["content"]
    assert "【答案】" in system
    assert "<eoa>" in system
    assert "{" not in system
    assert ("请" in system) is (language is Language.CHINESE)


@pytest.mark.parametrize(
    ("question_type", "letters", "parts", "form"),
    [
        (QuestionType.SINGLE_CHOICE, "ABCD", 1, "【答案】A<eoa>"),
        (QuestionType.MULTIPLE_CHOICE, "ABCD", 1, "【答案】AB<eoa>"),
        (QuestionType.FIVE_OUT_OF_SEVEN, "ABCDEFG", 5, "【答案】A B C D E<eoa>"),
        (QuestionType.OPEN_ENDED, "", 1, "【答案】……<eoa>"),
    ],
)
def test_the_form_shows_the_shape_of_the_answer(
    question_type: QuestionType, letters: str, parts: int, form: str
) -> None:
    system = zero_shot_messages(question_type, "物理", "题", Language.CHINESE, parts, letters)[0][
        "content"
    ]
    assert form in system


def test_several_questions_are_numbered() -> None:
    system = zero_shot_messages(
        QuestionType.SEVERAL_QUESTIONS, "地理", "题", Language.CHINESE, 3, "ABCD"
    )[0]["content"]
    assert "3道" in system
    assert "题号" in system


def test_equal_settings_have_equal_fingerprints() -> None:
    usual = Asking().settings(model="m", max_tokens=9, prompt_hash="1", answer_format="tags")
    assert read_condition(usual.as_dict()) == usual
    others = [
        replace(usual, sampling=Sampling(temperature=0.3)),
        replace(usual, setting=PromptSetting.FEW_SHOT),
        replace(usual, prompt_hash="2"),
        replace(usual, option_order=OptionOrder.ROTATED),
    ]
    marks = {one.fingerprint("GPT") for one in (usual, *others)}
    assert len(marks) == 5
    assert usual.fingerprint("another") not in marks


def test_sampling_is_never_left_to_the_provider() -> None:
    always = {"temperature": 0.0, "top_p": 1.0, "max_tokens": 2048}
    assert Sampling().request_params() == always
    given = Sampling(stop=("<eoa>",), seed=0, extra={"top_k": 1})
    assert given.request_params() == always | {"stop": ["<eoa>"], "seed": 0, "top_k": 1}


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"temperature": 3}, {"top_p": 0}, {"max_tokens": 0}]
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"temperature|max_tokens"):
        Sampling(**wrong)
