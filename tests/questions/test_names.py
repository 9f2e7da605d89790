"""Names, first words and points, as pages show them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from questions.templatetags.names import first_words, named, points


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("4.50"), "4.5"),
        (Decimal("10.00"), "10"),
        (Decimal("2.25"), "2.25"),
        (Decimal(0), "0"),
        ("12", "12"),
        (None, "–"),
    ],
)
def test_points(value: Decimal | None, shown: str) -> None:
    assert points(value) == shown


def test_first_words_leave_markup_out() -> None:
    text = "设 $\\mathrm{CO}_2$ 的\n\n| **浓度** |"
    assert first_words(text) == "设 CO 2 的 浓度"
    assert first_words("一二三四五六", 4) == "一二三…"


def test_a_name_that_nobody_knows_is_shown_as_it_is() -> None:
    assert named("Physics", "Subject") == "Physics"
    assert named("Astrology", "Subject") == "Astrology"
