"""Whether a row is another question's: editions of one text agree, two questions do not."""

from __future__ import annotations

import pytest

from evaluations.imports.rules.belonging import is_foreign, key_text, known_texts, too_many

STEM = "1．（6分）设 $a \\leqslant b$，下列叙述正确的是（　　）\nA．病毒  B．蓝藻"
KNOWN = known_texts([STEM, ""], [key_text(["B", "AD"]), ""])


@pytest.mark.parametrize(
    ("question", "key"),
    [
        (STEM, "C"),
        ("1. ( 6 分 ) 设$ a\\, \\leq b $,下列叙述 正确的是( )\nA. 病毒  B. 蓝藻\n", "C"),
        ("quite another text", key_text(["B", "DA"])),
        ("quite another text", "B AD"),
        ("", "C"),
        ("（　）", "C"),
        (STEM.replace("病毒", "细菌"), ""),
    ],
    ids=["same", "spacing", "key", "joined key", "no text", "no words", "edited, no key"],
)
def test_what_agrees_in_something_belongs(question: str, key: str) -> None:
    assert not is_foreign(question, key, KNOWN)


@pytest.mark.parametrize("key", ["C", "B A", "", "见解析"])
def test_what_agrees_in_nothing_is_foreign(key: str) -> None:
    assert is_foreign("How old is the boy? A. Nine. B. Ten.", key, KNOWN)


def test_an_edited_text_with_another_key_is_foreign() -> None:
    assert is_foreign(STEM.replace("病毒", "细菌"), "C", KNOWN)


def test_without_a_key_in_the_bank_the_texts_decide() -> None:
    bare = known_texts([STEM], [])
    assert not is_foreign(STEM.replace("病毒", "细菌"), "C", bare)
    assert is_foreign("How old is the boy?", "C", bare)


@pytest.mark.parametrize(
    ("value", "text"), [("x = 1 ", "x = 1"), (["DB", "A"], "BD A"), (7, ""), (["A", 7], "")]
)
def test_a_key_is_one_text(value: object, text: str) -> None:
    assert key_text(value) == text


def test_a_file_is_refused_above_three_rows_in_ten() -> None:
    assert [too_many(foreign, 10) for foreign in (0, 3, 4)] == [False, False, True]
