"""Prompt sets: the format and its problems, filling, examples, steps."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.conditions import PromptSetting
from evaluations.runs.rules.prompting.compose import CannotCompose, compose, token_count
from evaluations.runs.rules.prompting.filling import escaped, fill
from evaluations.runs.rules.prompting.items import PromptExample, PromptItem
from evaluations.runs.rules.prompting.prompt_sets import (
    BrokenPromptSet,
    as_json,
    content_hash,
    read_prompt_set,
    stored_prompt_set,
)
from questions.rules.vocabulary import Language, QuestionType

USER = {"role": "user", "content": "{question}"}
SMALL: dict[str, Any] = {
    "format": "gradeapp-prompts/1",
    "name": "small",
    "titles": {"en": "Small", "zh": "小"},
    "answer_format": "letter",
    "templates": [
        {
            "name": "any",
            "settings": {
                "zero-shot": {"steps": [[USER]]},
                "zero-shot-cot": {"steps": [[USER], [{**USER, "content": "{step_one}|{reply}"}]]},
                "few-shot": {
                    "steps": [[{"role": "system", "content": "{{x}}"}, USER]],
                    "examples": {"question": "{n} {stem}", "answer": "{answer}"},
                },
            },
        }
    ],
}
HOSTILE = "{stem} {reply} {{a}} {0.__class__} %s %(x)s $x ${x} \\g<1> $\\frac{1}{2}$ }{"


def item(stem: str = "Which?", **changes: Any) -> PromptItem:
    values: dict[str, Any] = {
        "dataset": "exam",
        "task": "physics",
        "external_id": "7",
        "index": 7,
        "question_type": QuestionType.SINGLE_CHOICE,
        "language": Language.ENGLISH,
        "stem": stem,
        "options": ("one", "two"),
        "letters": "AB",
    }
    return PromptItem(**values | changes)


def changed(path: str, value: object) -> dict[str, Any]:
    """SMALL with *value* at *path*; None takes the key away."""
    made: Any = json.loads(json.dumps(SMALL))  # no part of it stands twice
    *way, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = made
    for part in way:
        place = place[part]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return made


ZERO = "templates.0.settings.zero-shot"
COT = "templates.0.settings.zero-shot-cot"
FEW = "templates.0.settings.few-shot"
# Places in problems count from 1.
ZERO_1, COT_1, FEW_1 = (place.replace(".0.", ".1.") for place in (ZERO, COT, FEW))


@pytest.mark.parametrize(
    ("path", "value", "code", "place"),
    [
        ("titles.zh", None, "missing_key", "titles.zh"),
        ("templates.0.weight", 3, "unknown_key", "templates.1.weight"),
        ("format", "gradeapp-prompts/9", "bad_value", "format"),
        ("name", "No Name", "bad_value", "name"),
        ("templates", [], "bad_value", "templates"),
        (f"{ZERO}.steps", [], "bad_value", f"{ZERO_1}.steps"),
        (f"{ZERO}.steps.0.0.content", 5, "wrong_type", f"{ZERO_1}.steps.1.1.content"),
        (f"{ZERO}.steps.0.0.content", "{stm}", "unknown_field", f"{ZERO_1}.steps.1.1.content"),
        (f"{ZERO}.steps.0.0.content", "{answer}", "unknown_field", f"{ZERO_1}.steps.1.1.content"),
        (
            f"{ZERO}.steps.0.0.content",
            "{reply}",
            "reply_in_step_one",
            f"{ZERO_1}.steps.1.1.content",
        ),
        (f"{ZERO}.steps.0.0.content", "a { b", "lone_brace", f"{ZERO_1}.steps.1.1.content"),
        (f"{ZERO}.steps.0.0.content", " \n", "bad_value", f"{ZERO_1}.steps.1.1.content"),
        ("name", "new", "bad_value", "name"),
        (f"{ZERO}.steps.0.0.content", "{stem}" * 41, "too_many_fields", f"{ZERO_1}.steps.1"),
        (f"{FEW}.examples.answer", "{stem}" * 41, "too_many_fields", f"{FEW_1}.examples"),
        (f"{ZERO}.steps.0.0.role", "assistant", "last_message", f"{ZERO_1}.steps.1.1.role"),
        (f"{ZERO}.steps.0.0.role", "tool", "bad_value", f"{ZERO_1}.steps.1.1.role"),
        (f"{COT}.steps.1.0.content", "again", "no_reply", f"{COT_1}.steps.2"),
        (f"{FEW}.examples", None, "missing_key", f"{FEW_1}.examples"),
        (f"{FEW}.examples.answer", "{reply}", "reply_in_step_one", f"{FEW_1}.examples.answer"),
        (
            "templates.0.settings.guess",
            {"steps": [[USER]]},
            "bad_value",
            "templates.1.settings.guess",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    path: str, value: object, code: str, place: str
) -> None:
    with pytest.raises(BrokenPromptSet) as refused:
        read_prompt_set(changed(path, value))
    (problem,) = refused.value.problems
    assert problem.code == code
    assert problem.place == place
    assert problem.text.endswith(".")


def test_every_problem_of_a_set_is_listed() -> None:
    made = changed(f"{ZERO}.steps.0.0.content", "{stm} {no}")
    made["templates"].append(copy.deepcopy(made["templates"][0]))
    with pytest.raises(BrokenPromptSet) as refused:
        read_prompt_set(made)
    codes = sorted(problem.code for problem in refused.value.problems)
    assert codes == ["duplicate_name", *["unknown_field"] * 4]


def test_the_hash_is_of_the_content_and_survives_writing() -> None:
    content = read_prompt_set(SMALL)
    again = read_prompt_set(json.loads(json.dumps(as_json(content))))
    assert again == content
    assert content_hash(again) == content_hash(content)
    other = read_prompt_set(changed(f"{ZERO}.steps.0.0.content", "{question} "))
    assert content_hash(other) != content_hash(content)
    spelt_out = changed("templates.0.wordings", [])
    assert content_hash(read_prompt_set(spelt_out)) == content_hash(content)


@given(st.text() | st.just(HOSTILE), st.text() | st.just(HOSTILE))
def test_texts_of_strangers_stay_what_they_are(stem: str, reply: str) -> None:
    content = read_prompt_set(SMALL)
    asked = compose(content, "zero-shot-cot", item(stem, options=(), letters=""))
    first = asked.messages()[0]["content"]
    assert first == stem.strip()
    assert asked.messages(2, [reply])[0]["content"] == f"{first}|{reply}"
    assert fill(escaped(stem), {}) == stem


def test_examples_stand_before_the_question_and_are_dropped_from_the_end() -> None:
    content = read_prompt_set(SMALL)
    shown = [PromptExample(f"Q{n}", answer="word " * 10) for n in (1, 2, 3)]
    full = compose(content, "few_shot", item(), shown)
    assert [message["role"] for message in full.messages()] == [
        "system",
        *["user", "assistant"] * 3,
        "user",
    ]
    assert full.messages()[0]["content"] == "{x}"
    assert full.messages()[3]["content"] == "2 Q2"
    assert (full.examples_used, full.examples_dropped) == (3, 0)
    bounded = compose(content, "few-shot", item(), shown, max_prompt_tokens=20)
    assert (bounded.examples_used, bounded.examples_dropped) == (2, 1)
    assert full.messages()[:5] == bounded.messages()[:5]
    assert compose(content, "few-shot", item(), shown, max_prompt_tokens=19).examples_used == 1
    assert compose(content, "zero-shot", item(), shown).examples_used == 0
    # counted by hand: 8 letters are two pieces, 4 digits two, and each other character is one
    assert token_count("学习 alphabet 2048!") == 2 + 2 + 2 + 1


def test_examples_of_the_set_come_before_those_of_the_bank() -> None:
    own = changed("examples", {"physics": [{"stem": "Own?", "answer": "A"}]})
    asked = compose(read_prompt_set(own), "few-shot", item(), [PromptExample("Bank?", answer="B")])
    assert [message["content"] for message in asked.messages()][1:3] == ["1 Own?", "A"]


def test_steps_and_what_a_set_does_not_have() -> None:
    content = read_prompt_set(SMALL)
    asked = compose(content, "zero-shot-cot", item())
    assert asked.steps == 2
    assert asked.messages()[0]["content"] == "Which?\n\nA. one\nB. two"
    for step, replies in ((0, []), (3, ["a", "b"]), (2, [])):
        with pytest.raises(ValueError, match="step"):
            asked.messages(step, replies)
    for setting in ("few-shot-cot", "guess"):
        with pytest.raises(CannotCompose, match="setting"):
            compose(content, setting, item())
    with pytest.raises(CannotCompose, match="wording"):
        compose(content, "zero-shot", item(), wording=1)
    narrow = read_prompt_set(changed("templates.0.match", {"tasks": ["history"]}))
    with pytest.raises(CannotCompose, match="physics"):
        compose(narrow, "zero-shot", item())
    # with the same sub-answers, type and language a template can be chosen by each of them
    for match, fits in (
        ({"several_parts": True}, False),
        ({"several_parts": False, "languages": ["en"], "datasets": ["exam"]}, True),
        ({"question_types": ["multi_choice"]}, False),
    ):
        one = read_prompt_set(changed("templates.0.match", match))
        try:
            assert bool(compose(one, "zero-shot", item())) is fits
        except CannotCompose:
            assert not fits


def test_a_wording_replaces_the_settings_it_has() -> None:
    other = {"name": "b", "settings": {"zero-shot": {"steps": [[{**USER, "content": "{stem}!"}]]}}}
    content = read_prompt_set(changed("templates.0.wordings", [other]))
    assert compose(content, "zero-shot", item(), wording=1).messages()[0]["content"] == "Which?!"
    assert content.wording_count(PromptSetting.ZERO_SHOT) == 2
    assert content.wording_count(PromptSetting.FEW_SHOT) == 1
    assert content.wording_count(PromptSetting.FEW_SHOT_COT) == 0
    assert not content.offers(PromptSetting.FEW_SHOT_COT)


def test_a_stored_version_with_an_empty_message_is_still_read() -> None:
    content = changed(f"{ZERO}.steps.0.0.content", "")
    assert as_json(stored_prompt_set(content))["templates"] == content["templates"]
