"""The scripted endpoint suggests in the form that is asked for: a demo shows suggestions."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.llm.scripted.answers import answer
from evaluations.suggesting.rules.label_prompt import label_instructions, label_messages
from evaluations.suggesting.rules.label_reply import read_label_reply
from evaluations.suggesting.rules.rubric_prompt import rubric_instructions, rubric_messages
from evaluations.suggesting.rules.rubric_reply import read_rubric_reply
from questions.rules.vocabulary import Language

NUMBERS = range(20)


def said_to(messages: list[dict[str, str]]) -> str:
    return answer("\n".join(message["content"] for message in messages))


@pytest.mark.parametrize("language", list(Language))
def test_labels(language: Language) -> None:
    told = label_instructions(language)
    readings = [
        read_label_reply(
            said_to(
                label_messages(
                    told, subject="", question=f"Q{n}?", answer_key="A", language=language
                )
            )
        )
        for n in NUMBERS
    ]
    assert not any(reading.fault for reading in readings)
    assert len({str(reading.labels) for reading in readings}) > 10, "it depends on the question"


@pytest.mark.parametrize("language", list(Language))
@pytest.mark.parametrize("marks", [("6",), ("4", "2", "0.5"), ("1", "13")])
def test_scoring_points(marks: tuple[str, ...], language: Language) -> None:
    full = tuple(map(Decimal, marks))
    told = rubric_instructions(language)
    for n in NUMBERS:
        messages = rubric_messages(
            told,
            subject="",
            question=f"Q{n}?",
            answer_key="It is.",
            analysis="",
            sub_marks=full,
            language=language,
        )
        reading = read_rubric_reply(said_to(messages), full)
        assert (reading.fault, reading.unfinished) == ("", ())
