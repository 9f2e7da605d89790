"""Differences of two versions of a text, by hand."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.rules.text_differences import AROUND, differences


@pytest.mark.parametrize(
    ("before", "after", "pieces"),
    [
        ("same", "same", []),
        ("故选C。", "故选D。", [("same", "故选"), ("gone", "C"), ("new", "D"), ("same", "。")]),
        ("", "new text", [("new", "new text")]),
        ("12 cats", "13 cats", [("gone", "12"), ("new", "13"), ("same", " cats")]),
        ("甲乙丙", "甲丙", [("same", "甲"), ("gone", "乙"), ("same", "丙")]),
    ],
)
def test_what_changed(before: str, after: str, pieces: list[tuple[str, str]]) -> None:
    assert [tuple(piece) for piece in differences(before, after)] == pieces


def test_much_of_the_same_is_left_out() -> None:
    same = "山" * 500
    pieces = differences(same + "甲" + same, same + "乙" + same)
    assert [piece.kind for piece in pieces] == [
        *("skipped", "same", "gone", "new", "same", "skipped")
    ]
    assert {len(piece.text) for piece in pieces if piece.kind == "same"} == {AROUND}


def test_lines_among_thousands_are_told() -> None:
    before = "\n".join(f"第{n}行的文字" for n in range(4000))
    after = before.replace("第2000行", "第2000段").replace("第2400行", "第2400段")
    changed = [piece for piece in differences(before, after) if piece.kind in ("gone", "new")]
    assert [tuple(piece) for piece in changed] == [
        ("gone", "行的文字\n"),
        ("new", "段的文字\n"),
        ("gone", "第2400行"),
        ("new", "第2400段"),
    ]


@pytest.mark.parametrize("signs", [("a", "b"), ("a\n", "b\n")], ids=["words", "lines"])
def test_texts_of_100000_words_or_lines_are_compared_at_once(signs: tuple[str, str]) -> None:
    """A lead's look at such a question took a thread of the site for good."""
    random = Random(5)
    before, after = (" ".join(random.choices(signs, k=100_000)) for _ in range(2))
    started = time.process_time()
    pieces = differences(before, after)
    assert time.process_time() - started < 5
    assert {piece.kind for piece in pieces} >= {"gone", "new"}


@given(st.text("ab 甲\n", max_size=60), st.text("ab 甲\n", max_size=60))
def test_nothing_is_lost(before: str, after: str) -> None:
    """The pieces make up both texts, where nothing is left out."""
    pieces = differences(before, after)
    if before != after and all(piece.kind != "skipped" for piece in pieces):
        assert "".join(one.text for one in pieces if one.kind != "new") == before
        assert "".join(one.text for one in pieces if one.kind != "gone") == after
