"""Prompts and settings: what is asked, and that equal settings have equal fingerprints."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace

import pytest

from evaluations.conditions import Asking, OptionOrder, PromptSetting, Sampling, read_condition
from evaluations.runs.rules.prompting.compose import compose
from evaluations.runs.rules.prompting.items import PromptExample, PromptItem
from evaluations.runs.rules.prompting.shipped_sets import GRADEAPP, shipped_set
from questions.rules.vocabulary import Language, QuestionType

# Of the zero-shot messages before prompt sets existed: old runs were asked with these words.
FIRST_WORDS = "03e0505feef9e2ec8d09114219ee7e3490b3e9fe38999315069305c23326be7d"


def item(question_type: QuestionType, language: Language, parts: int, letters: str) -> PromptItem:
    return PromptItem(
        "exam",
        "a-task",
        "1",
        0,
        question_type,
        language,
        stem=" 题 {x}\n",
        subject_name="物理",
        letters=letters,
        parts=parts,
    )


def test_our_zero_shot_words_are_those_of_earlier_runs() -> None:
    own, digest = shipped_set(GRADEAPP), hashlib.sha256()
    for question_type in QuestionType:
        for language in Language:
            for parts, letters in ((1, ""), (1, "ABCD"), (3, "ABCDE"), (5, "ABCDEFG")):
                asked = compose(own, "zero-shot", item(question_type, language, parts, letters))
                digest.update(json.dumps(asked.messages(), ensure_ascii=False).encode())
    assert digest.hexdigest() == FIRST_WORDS


@pytest.mark.parametrize("setting", list(PromptSetting))
@pytest.mark.parametrize("language", list(Language))
def test_every_type_is_asked_in_its_language(setting: PromptSetting, language: Language) -> None:
    own = shipped_set(GRADEAPP)
    example = PromptExample("E?", answer="B", explanation="{because}")
    for question_type in QuestionType:
        for wording in range(own.wording_count(setting)):
            one = item(question_type, language, 2, "ABCD")
            asked = compose(own, setting, one, [example], wording=wording)
            assert asked.steps == (2 if setting is PromptSetting.ZERO_SHOT_COT else 1)
            messages = asked.messages(asked.steps, ["a {reply}"] * (asked.steps - 1))
            assert "题 {x}" in [message["content"] for message in messages]
            last = messages[-1]["content"] if asked.steps == 2 else messages[0]["content"]
            assert "【答案】" in last
            assert "<eoa>" in last
            assert "{" not in last
            assert ("请" in messages[0]["content"]) is (language is Language.CHINESE)
            if setting.few_shot:
                told = messages[2]["content"]
                assert ("{because}" in told) is (setting is PromptSetting.FEW_SHOT_COT)
    assert own.wording_count(PromptSetting.ZERO_SHOT) == 3


@pytest.mark.parametrize(
    ("question_type", "letters", "parts", "form"),
    [
        (QuestionType.SINGLE_CHOICE, "ABCD", 1, "【答案】A<eoa>"),
        (QuestionType.MULTIPLE_CHOICE, "ABCD", 1, "【答案】AB<eoa>"),
        (QuestionType.FIVE_OUT_OF_SEVEN, "ABCDEFG", 5, "【答案】A B C D E<eoa>"),
        (QuestionType.OPEN_ENDED, "", 1, "【答案】……<eoa>"),
        (QuestionType.SEVERAL_QUESTIONS, "ABCD", 3, "3道物理"),
        (QuestionType.SEVERAL_QUESTIONS, "ABCD", 3, "题号"),
    ],
)
def test_the_form_shows_the_shape_of_the_answer(
    question_type: QuestionType, letters: str, parts: int, form: str
) -> None:
    one = item(question_type, Language.CHINESE, parts, letters)
    assert form in compose(shipped_set(GRADEAPP), "zero-shot", one).messages()[0]["content"]


def test_agibench_has_three_types_of_prompt() -> None:
    one = replace(item(QuestionType.SINGLE_CHOICE, Language.CHINESE, 1, "AB"), options=("x", "y"))
    ends = {"none": "", "answer": "\nThe answer is:", "reason": "\nThe answer and the reason are:"}
    for name, end in ends.items():
        asked = compose(shipped_set(f"agibench:{name}"), "zero-shot", one)
        content = "题 {x}\n\n\nA. x\nB. y" + end
        assert asked.messages() == [{"role": "user", "content": content}]
        assert asked.answer_format == "agibench"


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
