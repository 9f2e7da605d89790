"""Names, first words and points, as pages show them."""

from __future__ import annotations

from decimal import Decimal

import pytest

from questions.templatetags.names import first_words, named, points, response_words


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


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("设 $\\mathrm{CO}_2$ 的\n\n| **浓度** |", "设 CO₂ 的 **浓度**"),
        ("已知 $f(x)=\\frac{x^2+1}{x-1}$，求", "已知 f(x)=(x²+1)/(x-1)，求"),
        ("Because $|x| < 2$ <eoe>", "Because |x| < 2"),
        ("| 角度 | 作用 |\n|---|:---:|\n| 经济 | 沟通 |", "角度 | 作用 经济 | 沟通"),
    ],
)
def test_first_words_keep_formulas_readable(text: str, shown: str) -> None:
    assert first_words(text) == shown


def test_the_first_words_of_a_response_are_without_markdown() -> None:
    assert response_words("## 解\n**答案** 是 `x`, 2**3 和 #3") == "解 答案 是 x, 2**3 和 #3"


def test_first_words_end_where_they_are_too_long() -> None:
    assert first_words("一二三四五六", 4) == "一二三…"
    assert first_words("$x^2$" * 1000, 10) == "x²" * 4 + "x…"


def test_a_name_that_nobody_knows_is_shown_as_it_is() -> None:
    assert named("Physics", "Subject") == "Physics"
    assert named("Astrology", "Subject") == "Astrology"
