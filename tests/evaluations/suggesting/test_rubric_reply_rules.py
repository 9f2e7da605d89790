"""Scoring points out of a model's reply: a draft, an unfinished draft, or a reason."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.suggesting.rules.rubric_prompt import rubric_instructions, rubric_messages
from evaluations.suggesting.rules.rubric_reply import read_rubric_reply
from questions.rules.rubric import ScoringPoint
from questions.rules.vocabulary import Language

MARKS = (Decimal(4), Decimal(2))
WHOLE = (
    '[{"sub": 1, "text": "states the law", "points": 2.5},'
    ' {"sub": 1, "text": "solves it", "points": 1.5},'
    ' {"sub": 2, "text": "concludes", "points": 2}]'
)
POINTS = (
    ScoringPoint("states the law", Decimal("2.5"), 1),
    ScoringPoint("solves it", Decimal("1.5"), 1),
    ScoringPoint("concludes", Decimal(2), 2),
)
LAST = '{"sub": 2, "text": "concludes", "points": 2}'

TAKEN = [
    ("alone", WHOLE),
    ("fenced, with prose", f"Here it is:\n```json\n{WHOLE}\n```\nI hope it helps."),
    ("inside an object", f'{{"rubric": {WHOLE}}}'),
    ("numbers as strings", WHOLE.replace("2.5", '"2.50"').replace('"sub": 2', '"sub": "2"')),
    ("another order", f"[{LAST}, {WHOLE[1:].replace(', ' + LAST, '')}"),
    ("said twice alike", f"{WHOLE}\n{WHOLE}"),
]
REFUSED = [
    ("prose alone", "States the law: 2 points.", "no_json", {}),
    ("one point outside a list", LAST, "no_json", {}),
    ("cut off inside", WHOLE[:60], "broken_json", {}),
    ("two answers", f"{WHOLE} or [{LAST}]", "several_answers", {}),
    ("a key that is not known", WHOLE.replace("text", "txt"), "not_a_point", {"name": "txt"}),
    ("no points", '[{"sub": 1, "text": "all"}]', "not_a_point", {"name": "points"}),
    ("points in words", WHOLE.replace("2.5", '"2分"'), "not_a_point", {"name": "points"}),
    ("a huge number", WHOLE.replace("2.5", "1E-999999999"), "broken_json", {}),
    ("a huge text", WHOLE.replace("2.5", '"1E-999999999"'), "not_a_point", {"name": "points"}),
    ("not a point", '[{"sub": 1, "text": "all", "points": 6}, "more"]', "not_a_point", "rubric"),
    ("no text", WHOLE.replace("solves it", " "), "point_without_text", {"point": 2}),
    (
        "points below zero",
        WHOLE.replace("1.5", "-1.5"),
        "point_out_of_range",
        {"point": 2, "points": "-1.5", "most": "300"},
    ),
    (
        "a picture of its own",
        WHOLE.replace("solves it", "![](image:f.png)"),
        "point_picture_unknown",
        {"point": 2, "name": "f.png"},
    ),
    (
        "a sub-question too many",
        WHOLE.replace('"sub": 2', '"sub": 3'),
        "point_sub_unknown",
        {"point": 3, "sub": 3, "subs": 2},
    ),
    (
        "a group that is not there",
        WHOLE.replace("2}]", '2, "group": 1}]'),
        "point_group_unknown",
        {"point": 3, "group": 1},
    ),
]
UNFINISHED = [
    ("too few points", WHOLE.replace("1.5", "1"), ["sub_sum_differs"]),
    ("nothing for one", WHOLE.replace(", " + LAST, ""), ["sub_sum_differs"]),
    ("no half point", WHOLE.replace("2.5", "2.3"), ["point_not_a_step", "sub_sum_differs"]),
]


@pytest.mark.parametrize("reply", [c[1] for c in TAKEN], ids=[c[0] for c in TAKEN])
def test_what_is_taken(reply: str) -> None:
    reading = read_rubric_reply(reply, MARKS)
    assert (reading.fault, reading.unfinished) == ("", ())
    assert reading.rubric is not None
    assert reading.rubric.points == POINTS
    assert reading.span is not None
    assert reply[slice(*reading.span)].startswith("[")


@pytest.mark.parametrize(
    ("reply", "fault", "params"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_what_is_refused(reply: str, fault: str, params: dict[str, object] | str) -> None:
    reading = read_rubric_reply(reply, MARKS)
    named = {"name": params} if isinstance(params, str) else params
    assert (reading.rubric, reading.fault, reading.params) == (None, fault, named)


@pytest.mark.parametrize(
    ("reply", "faults"), [c[1:] for c in UNFINISHED], ids=[c[0] for c in UNFINISHED]
)
def test_what_does_not_add_up_is_left_to_a_person(reply: str, faults: list[str]) -> None:
    reading = read_rubric_reply(reply, MARKS)
    assert reading.rubric is not None
    assert [one.code.value for one in reading.unfinished] == faults


def test_a_reply_that_did_not_end_by_itself_is_not_read() -> None:
    assert read_rubric_reply(WHOLE, MARKS, finish_reason="length").fault == "truncated"


@pytest.mark.parametrize(
    ("marks", "language", "told"),
    [
        ((Decimal(6),), Language.CHINESE, "【满分】\n6 分"),
        (
            (Decimal("4.5"), Decimal(2)),
            Language.CHINESE,
            "【各小题满分】\nsub 1：4.5 分\nsub 2：2 分",
        ),
        ((Decimal(6),), Language.ENGLISH, "【Full marks】\n6 points"),
        (
            (Decimal(4), Decimal(2)),
            Language.ENGLISH,
            "【Full marks of each sub-question】\nsub 1: 4 points\nsub 2: 2 points",
        ),
    ],
)
def test_what_is_asked(marks: tuple[Decimal, ...], language: Language, told: str) -> None:
    texts = {"subject": "", "question": "Why {0}?", "answer_key": "It is.", "analysis": " "}
    told_first = rubric_instructions(language)
    system, user = rubric_messages(told_first, **texts, sub_marks=marks, language=language)
    assert system["content"] == told_first
    assert user["content"].endswith(told)
    assert "Why {0}?" in user["content"]
    assert user["content"].count("【") == 3, "the empty ones are left out"
