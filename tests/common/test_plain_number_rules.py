"""Marks in writing."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gradeapp.common.plain_number import choices, decimal_of, plain, shown, with_half


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("3.00", "3"),
        ("2.50", "2.5"),
        ("0", "0"),
        ("0.00", "0"),
        ("100", "100"),
        ("1E+2", "100"),
        ("10.0", "10"),
        ("-0.5", "-0.5"),
        ("9.3750", "9.375"),
        ("NaN", "NaN"),
    ],
)
def test_a_mark_is_written_plainly_and_exactly(value: str, written: str) -> None:
    assert plain(Decimal(value)) == written


@pytest.mark.parametrize(
    ("value", "written"), [("9.375", "9.38"), ("9.25", "9.25"), ("6.0000", "6"), ("0.005", "0.01")]
)
def test_a_final_mark_is_rounded_half_up_when_shown(value: str, written: str) -> None:
    assert shown(Decimal(value)) == written


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("8.", "8.5"),
        (" 12. ", "12.5"),
        (".", ".5"),
        ("8", "8"),
        ("8.2", "8.2"),
        ("8,", "8.5"),
        ("8。", "8.5"),
        ("8，", "8.5"),
        ("，", ".5"),
        ("8,5", "8.5"),
        (" 8。25 ", "8.25"),
        ("1,000", "1,000"),
        ("8,,", "8,,"),
        ("a.", "a."),
        ("8..", "8.."),
        ("-1.", "-1."),
        ("", ""),
    ],
)
def test_a_number_that_ends_with_a_point_is_a_half_more(typed: str, read: str) -> None:
    assert with_half(typed) == read


@pytest.mark.parametrize(
    ("full", "step", "expected"),
    [
        ("2", "0.5", ["0", "0.5", "1.0", "1.5", "2.0"]),
        ("3", "1", ["0", "1", "2", "3"]),
        ("2.5", "1", ["0", "1", "2", "2.5"]),
        ("0.5", "1", ["0", "0.5"]),
    ],
)
def test_the_choices_are_the_steps_and_full_marks(
    full: str, step: str, expected: list[str]
) -> None:
    assert choices(Decimal(full), Decimal(step)) == [Decimal(value) for value in expected]


@pytest.mark.parametrize(
    "text", ["１", "٠", "0_0", "1e9999999", "NaN", "Infinity", "²", "½", "十", "0x1", "1 0", ""]
)
def test_only_the_digits_0_to_9_are_a_number(text: str) -> None:
    assert decimal_of(text) is None
    assert with_half(text) == text
