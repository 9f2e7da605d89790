"""The level from the human rate, and the modal from the content."""

from __future__ import annotations

from decimal import Decimal

import pytest

from questions.rules.four_tuple import difficulty_level, modal_of
from questions.rules.vocabulary import Modal

IMAGE = "![](image:a.png)"


@pytest.mark.parametrize(
    ("rate", "level"),
    [
        ("1", 1),
        ("0.8", 1),
        ("0.7999", 2),
        ("0.60", 2),
        ("0.59999999999999999999", 3),
        ("0.4", 3),
        ("0.3999", 4),
        ("0.2", 4),
        ("0.1999", 5),
        ("0", 5),
    ],
)
def test_a_border_belongs_to_the_easier_level(rate: str, level: int) -> None:
    assert difficulty_level(Decimal(rate)) == level


@pytest.mark.parametrize("rate", ["-0.01", "1.01", "61", "NaN", "Infinity"])
def test_what_is_no_rate_has_no_level(rate: str) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        difficulty_level(Decimal(rate))


@pytest.mark.parametrize(
    "table",
    [
        "\\begin{tabular}{|c|c|}\n\\hline 1 & 2 \\\\\n\\end{tabular}",
        "$$\\begin{array}{|c|c|} \\hline a & b \\end{array}$$",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "a | b\n:-- | --:\n1 | 2",
        "<TABLE border=1><tr><td>1</td></tr></TABLE>",
    ],
)
def test_tables_are_known_in_each_notation(table: str) -> None:
    assert modal_of(f"Read the table.\n{table}\nHow many?") is Modal.TEXT_TABLE
    assert modal_of("How many?", passage=table) is Modal.TEXT_TABLE
    assert modal_of(f"{table}\n{IMAGE}") is Modal.TEXT_IMAGE_TABLE


@pytest.mark.parametrize(
    "text",
    [
        "$\\begin{array}{l} x > 2 \\\\ y < 3 \\end{array}$",
        "$\\left(\\begin{array}{cc|c} 1 & 0 & 2 \\end{array}\\right)$",
        "A line\n---\nunder a title, and |x| + |y|",
        "[not an image](image:a.png) and !important",
    ],
)
def test_formulas_and_rules_are_text(text: str) -> None:
    assert modal_of(text) is Modal.TEXT


def test_images_count_wherever_they_are_asked() -> None:
    assert modal_of(f"Look: {IMAGE}") is Modal.TEXT_IMAGE
    assert modal_of("Which sign?", (IMAGE, IMAGE)) is Modal.TEXT_IMAGE
    assert modal_of("Which sign?", images=("a.png",)) is Modal.TEXT_IMAGE
    assert modal_of('See <img src="a.png"> here') is Modal.TEXT_IMAGE


def test_an_item_is_image_only_when_passage_and_stem_are_images() -> None:
    assert modal_of(f"{IMAGE}\n{IMAGE} ?", ("4", "5")) is Modal.IMAGE
    assert modal_of(IMAGE, passage="Four cities") is Modal.TEXT_IMAGE
