"""Differences of two versions of a text, by hand."""

from __future__ import annotations

import time

import pytest

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


def test_long_texts_are_compared_in_time_and_nothing_is_lost() -> None:
    before = "\n".join(f"第{n}行的文字" for n in range(4000))
    after = before.replace("第2000行", "第2000段")
    started = time.process_time()
    pieces = differences(before, after)
    assert time.process_time() - started < 5
    assert [piece.text for piece in pieces if piece.kind in ("gone", "new")] == [
        "第2000行的文字\n",
        "第2000段的文字\n",
    ]
