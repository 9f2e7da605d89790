"""Prompts and settings: what is asked, and that equal settings have equal fingerprints."""

from __future__ import annotations

import pytest

from evaluations.runs.rules.prompting.run_settings import RunSettings
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
    assert RunSettings().fingerprint() == RunSettings(temperature=0.0).fingerprint()
    others = [RunSettings(temperature=0.3), RunSettings(max_tokens=99), RunSettings(top_p=0.9)]
    others.append(RunSettings(prompt_version="another"))
    assert len({settings.fingerprint() for settings in [RunSettings(), *others]}) == 5


def test_sampling_is_never_left_to_the_provider() -> None:
    assert RunSettings().request_params() == {
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 2048,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"setting": "guess"},
        {"temperature": -1},
        {"temperature": 3},
        {"top_p": 0},
        {"max_tokens": 0},
    ],
)
def test_nonsense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"setting|temperature|max_tokens"):
        RunSettings(**wrong)
