"""Texts are cut where their sub-questions begin, and nothing of them is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.rules.question_parts import split_passage, split_subs


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("（1）CD\n（2）①二战\n②才能\n（3）正义感", [1, 2, 3]),
        ("解: (1) $a=0$ 时\n\n由(1)知\n(2) 由（1）得", [1, 2]),
        ("（１）A；（２）B。(3) C", [1, 2, 3]),
        ("总述\n(Ⅰ) 证明\n（II）略", [0, 1, 2]),
        ("(1) a\n(i) b\n(ii) c\n(2) d", [1, 2]),
        ("61. built\n62. the\n63. ability", [61, 62, 63]),
        ("1.5 m\n2.5 m", [0]),
        ("(1) only", [0]),
        ("(2) a\n(1) b", [0]),
        ("no parts", [0]),
        ("", [0]),
    ],
)
def test_a_key_falls_into_its_sub_questions(text: str, numbers: list[int]) -> None:
    assert [part.number for part in split_subs(text)] == numbers


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("读材料\n  很长\n（1）说明\n（2）为什么", "读材料\n  很长\n"),
        ("Text\n21. What?\nA. a\n22. Why?", "Text\n"),
        ("Text with (1) inside.\n\n(1) How long?", "Text with (1) inside.\n\n"),
        ("Roses\n(I) One\n(II) Two:\n(i) a;\n(ii) b.", "Roses\n"),
        ("6．阅读下文\n材料", ""),
        ("fill __61__ and __62__", ""),
    ],
)
def test_a_passage_ends_where_its_questions_begin(text: str, passage: str) -> None:
    assert split_passage(text) == (passage, text[len(passage) :])


@given(st.text(alphabet="(（1２3)）IⅡ.、\n 解:。ab"))
def test_the_parts_joined_are_the_text(text: str) -> None:
    assert "".join(part.text for part in split_subs(text)) in (text, text.lstrip())
    assert "".join(split_passage(text)) == text
