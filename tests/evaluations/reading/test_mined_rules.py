"""Reading by mined patterns: which occurrence counts, whose letters, and how long it takes."""

from __future__ import annotations

import re

import pytest

from evaluations.reading.rules.extraction.mined import (
    LETTERS,
    ReadingPattern,
    compiled,
    read_by_patterns,
)
from evaluations.reading.rules.extraction.pattern_mining_shapes import (
    BREAK,
    END,
    NUMBER,
    START,
    Piece,
    Shape,
    merged,
)
from evaluations.reading.rules.extraction.source_text import plain_source


def shape(*left: str, right: tuple[str, ...] = ()) -> Shape:
    return Shape(tuple(Piece((word,)) for word in left), tuple(Piece((word,)) for word in right))


def pattern(name: str, *left: str, right: tuple[str, ...] = ()) -> ReadingPattern:
    return ReadingPattern(name, "single_choice", shape(*left, right=right).expression)


TAG = pattern("tag", "【答案】")
CHOOSE = pattern("choose", "我", "要")


@pytest.mark.parametrize(
    ("output", "letters", "read"),
    [
        ("【答案】C", "ABCD", "C"),
        ("【答案】 Ｃ <eoa>", "ABCD", "C"),
        ("先写【答案】A，后来改为【答案】B", "ABCD", "B"),
        ("【答案】A、C和D", "ABCD", "ACD"),
        ("【答案】ACD", "ABCD", "ACD"),
        ("【答案】A, C", "ABCD", "AC"),
        ("【答案】B, C错误", "ABCD", "B"),
        ("【答案】E", "ABCD", ""),
        ("【答案】E", "ABCDE", "E"),
        ("【答案】Because", "ABCD", ""),
        ("【答案】A=3", "ABCD", ""),
        ("【答案】不是A", "ABCD", ""),
        ("没有写", "ABCD", ""),
    ],
)
def test_the_letters_after_the_last_occurrence_count(output: str, letters: str, read: str) -> None:
    reading = read_by_patterns(plain_source(output), letters, [TAG])
    assert "".join(reading.letters if reading else ()) == read


def test_the_pattern_that_speaks_last_decides_and_is_named_with_its_span() -> None:
    output = "**【答案】**A。再想一想，我要C。"
    reading = read_by_patterns(plain_source(output), "ABCD", [TAG, CHOOSE])
    assert reading is not None
    assert (reading.letters, reading.method, reading.pattern) == (("C",), "mined", "choose")
    assert output[slice(*reading.span)] == "我要C"
    assert [output[slice(*place)] for place in reading.places] == ["C"]


def test_questions_are_skipped_and_alternatives_are_undecided() -> None:
    reading = read_by_patterns(plain_source("我要A。不，我要B吗？"), "ABCD", [CHOOSE])
    assert (reading and reading.letters) == ("A",)
    reading = read_by_patterns(plain_source("【答案】A或C"), "ABCD", [TAG])
    assert reading is not None
    assert reading.undecided


def test_several_questions_are_read_where_each_has_its_letter() -> None:
    output = "1.【答案】A\n2.【答案】C\n3.【答案】B"
    reading = read_by_patterns(plain_source(output), "ABCD", [TAG], parts=3)
    assert reading is not None
    assert reading.letters == ("A", "C", "B")
    assert [output[slice(*place)] for place in reading.places] == ["A", "C", "B"]
    assert read_by_patterns(plain_source(output), "ABCD", [TAG], parts=4) is None


@pytest.mark.parametrize(
    ("old", "new", "texts"),
    [
        (("the", "answer"), ("the", "choice"), ("the answer C", "the choice C")),
        (("答", "案"), ("答", "案", ":"), ("答案C", "答案: C")),
        (("选",), ("故", "选"), ("选C", "故选C")),
    ],
)
def test_a_patch_reads_what_both_read(
    old: tuple[str, ...], new: tuple[str, ...], texts: tuple[str, ...]
) -> None:
    together = merged(shape(*old), shape(*new))
    assert together is not None
    expression = compiled(together.expression, "ABCD")
    assert all(expression.search(text) for text in texts)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (shape("故", "选"), shape("答", "案")),
        (shape("答", "案"), shape("答", "案", right=(END,))),
        (shape(BREAK, "选"), shape("故", "选")),
    ],
)
def test_shapes_with_too_little_in_common_are_not_patched(old: Shape, new: Shape) -> None:
    assert merged(old, new) is None


@pytest.mark.parametrize("word", ["<letters>", "(a+)+", "a|b", "[", "\\", "^", "$", "."])
def test_a_word_of_a_text_is_a_literal(word: str) -> None:
    one = shape("答", *word, ":")
    assert one.expression.count(LETTERS) == 1
    assert compiled(one.expression, "ABCD").search(f"答{word}:C")
    assert not compiled(one.expression, "ABCD").search("答aaaaaaaaa:C")


# A quantifier without an upper bound, once literals and classes are left out.
LITERALS = re.compile(r"\[(?:\\.|[^\]\\])*\]|\\.")
UNBOUNDED = re.compile(r"[*+]|\{\d*,\}")


@pytest.mark.parametrize(
    "one",
    [
        shape("【答案】"),
        shape(NUMBER, ".", "答", "案", ":", BREAK, right=("。", END)),
        shape(START, right=(END,)),
        Shape((Piece(("the", "The")), Piece((":",), optional=True), Piece(("is", "be")))),
    ],
)
@pytest.mark.parametrize(
    "hostile",
    [
        *("A" * 100_000, "A、" * 50_000, " " * 100_000, "\n" * 100_000),
        *("【答案】" * 25_000, "【答案】A" * 20_000, "1. " * 33_000, "答案:\n  \n" * 12_000),
        *("the the :   " * 8_000, "不" * 100_000, "A, B and " * 11_000, "\x00A\x1e" * 33_000),
    ],
)
def test_no_text_makes_a_pattern_slow(one: Shape, hostile: str) -> None:
    """No quantifier is without a bound, and 100,000 hostile characters are read to their end."""
    expression = compiled(one.expression, "ABCD").pattern
    assert not UNBOUNDED.search(LITERALS.sub("", expression))
    pattern = ReadingPattern("one", "single_choice", one.expression)
    reading = read_by_patterns(plain_source(hostile), "ABCD", [pattern])
    assert reading is None or set(reading.letters) <= set("ABCD")
