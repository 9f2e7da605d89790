"""Labels out of a model's reply: taken as they were said, or refused with the reason."""

from __future__ import annotations

import pytest

from evaluations.suggesting.rules.label_prompt import label_instructions, label_messages
from evaluations.suggesting.rules.label_reply import read_label_reply
from questions.rules.taxonomy import SLUGS
from questions.rules.vocabulary import Language

WHOLE = '{"ability_branch": "reasoning", "knowledge": "logical-judgment", "difficulty": 3}'
READ = {"ability_branch": "reasoning", "knowledge": "logical-judgment", "difficulty": 3}
LAW = '"knowledge": "law", "difficulty": 2'

TAKEN = [
    ("alone", WHOLE, READ),
    ("fenced", f"```json\n{WHOLE}\n```", READ),
    ("prose around it", f"My answer is\n{WHOLE}\nbecause it needs steps.", READ),
    ("a formula before it", r"From \frac{1}{2} and {a, b}: " + WHOLE, READ),
    ("behind its reasoning", f'<think>or {{"knowledge": "law"}}?</think>{WHOLE}', READ),
    ("said twice alike", f"{WHOLE}\n\nAs JSON again: {WHOLE}", READ),
    ("in a list", f"[{WHOLE}]", READ),
    ("a number as a string", WHOLE.replace("3", '"3"'), READ),
    ("with more than was asked", WHOLE.replace("}", ', "modal": "text"}'), READ),
    (
        "published names in place of codes",
        '{"ability_branch": "常识", "knowledge": "世界历史", "difficulty": 1}',
        {
            "ability_branch": "common_sense",
            "knowledge": "humanities-world-history",
            "difficulty": 1,
        },
    ),
    (
        "an English name in another case",
        '{"ability_branch": "Common Sense", "knowledge": "World history", "difficulty": 1}',
        {
            "ability_branch": "common_sense",
            "knowledge": "humanities-world-history",
            "difficulty": 1,
        },
    ),
    (
        "a code that is also the name of another place",
        '{"ability_branch": "common_sense", "knowledge": "political", "difficulty": 1}',
        {"ability_branch": "common_sense", "knowledge": "political", "difficulty": 1},
    ),
    (
        "cannot tell one of them",
        '{"ability_branch": null, "knowledge": "law", "difficulty": ""}',
        {"ability_branch": None, "knowledge": "law", "difficulty": None},
    ),
]
REFUSED = [
    ("nothing", "  \n", "empty_reply", {}),
    ("prose alone", "It is a question of law, level 3.", "no_json", {}),
    ("single quotes", WHOLE.replace('"', "'"), "broken_json", {}),
    ("cut off inside", WHOLE[:40], "broken_json", {}),
    ("a comma too many", WHOLE.replace("}", ",}"), "broken_json", {}),
    ("a key twice", WHOLE.replace("}", ', "difficulty": 4}'), "broken_json", {}),
    ("no number", WHOLE.replace("3", "NaN"), "broken_json", {}),
    ("nested too deep", '{"a":' * 5000 + "1" + "}" * 5000, "broken_json", {}),
    ("two answers", f"{WHOLE} or {WHOLE.replace('3', '4')}", "several_answers", {}),
    ("no branch", "{" + LAW + "}", "missing_label", {"label": "ability_branch"}),
    (
        "a misspelt key",
        '{"abilty_branch": "reasoning", ' + LAW + "}",
        "missing_label",
        {"label": "ability_branch"},
    ),
    (
        "an unknown branch",
        '{"ability_branch": "logic", ' + LAW + "}",
        "unknown_value",
        {"label": "ability_branch", "value": "logic"},
    ),
    (
        "an unknown place",
        WHOLE.replace("logical-judgment", "physics"),
        "unknown_value",
        {"label": "knowledge", "value": "physics"},
    ),
    (
        "a name of two places",
        WHOLE.replace("logical-judgment", "表格资料"),
        "several_places",
        {"label": "knowledge", "value": "表格资料"},
    ),
    (
        "what no database holds",
        WHOLE.replace("reasoning", "a\\u0000b\\ud800"),
        "unknown_value",
        {"label": "ability_branch", "value": "a\ufffdb\ufffd"},
    ),
    (
        "two places",
        WHOLE.replace('"logical-judgment"', '["law", "technology"]'),
        "unknown_value",
        {"label": "knowledge", "value": "['law', 'technology']"},
    ),
    ("level 6", WHOLE.replace("3", "6"), "unknown_value", {"label": "difficulty", "value": "6"}),
    (
        "between levels",
        WHOLE.replace("3", "3.5"),
        "unknown_value",
        {"label": "difficulty", "value": "3.5"},
    ),
    (
        "a level in words",
        WHOLE.replace("3", '"3级"'),
        "unknown_value",
        {"label": "difficulty", "value": "3级"},
    ),
    (
        "true is no level",
        WHOLE.replace("3", "true"),
        "unknown_value",
        {"label": "difficulty", "value": "True"},
    ),
    (
        "none of them",
        '{"ability_branch": null, "knowledge": null, "difficulty": null}',
        "no_label",
        {},
    ),
]


@pytest.mark.parametrize(("reply", "labels"), [c[1:] for c in TAKEN], ids=[c[0] for c in TAKEN])
def test_what_is_taken(reply: str, labels: dict[str, object]) -> None:
    reading = read_label_reply(reply)
    assert (reading.labels, reading.fault) == (labels, "")
    assert reading.span is not None
    assert reply[slice(*reading.span)].startswith("{")


@pytest.mark.parametrize(
    ("reply", "fault", "params"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_what_is_refused(reply: str, fault: str, params: dict[str, object]) -> None:
    reading = read_label_reply(reply)
    assert (reading.labels, reading.fault, reading.params) == ({}, fault, params)


@pytest.mark.parametrize(
    ("finish", "fault"), [("length", "truncated"), ("content_filter", "refused")]
)
def test_a_reply_that_did_not_end_by_itself_is_not_read(finish: str, fault: str) -> None:
    assert read_label_reply(WHOLE, finish_reason=finish).fault == fault


@pytest.mark.parametrize("language", list(Language))
def test_the_instructions_name_every_code(language: Language) -> None:
    told = label_instructions(language)
    named = {word.strip(":;") for word in told.split()}
    unnamed = SLUGS - named
    # Seven categories have one subclass of their own name: it would say nothing more.
    assert len(unnamed) == 7
    assert all(any(slug.startswith(f"{one}-") for one in named) for slug in unnamed)


def test_a_question_is_never_a_format() -> None:
    sent = label_messages(
        "told", subject="", question="Is {0} %s?", answer_key="A", language=Language.ENGLISH
    )
    assert sent == [
        {"role": "system", "content": "told"},
        {"role": "user", "content": "【Question】\nIs {0} %s?\n\n【Answer key】\nA"},
    ]
