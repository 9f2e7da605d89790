"""The four-tuple as a value: what a change may say and what it leaves."""

from __future__ import annotations

import pytest

from questions.rules.four_tuple import BadLabel, FourTuple, Label, read_change
from questions.rules.vocabulary import LabelOrigin

DERIVED = FourTuple(
    difficulty=3, modal="text", origins={"difficulty": "derived", "modal": "content"}
)


def test_a_change_sets_what_it_names_and_leaves_the_rest() -> None:
    change = {Label.DIFFICULTY: 4, Label.ABILITY_BRANCH: "reasoning"}
    after = DERIVED.changed(change, LabelOrigin.PERSON)
    assert after == FourTuple(
        ability_branch="reasoning",
        difficulty=4,
        modal="text",
        origins={"difficulty": "person", "ability_branch": "person", "modal": "content"},
    )


def test_the_same_value_keeps_where_it_came_from() -> None:
    assert DERIVED.changed({Label.DIFFICULTY: 3}, LabelOrigin.PERSON) == DERIVED
    assert DERIVED.differences({Label.DIFFICULTY: 3, Label.KNOWLEDGE: None}) == {}


def test_an_empty_value_takes_label_and_origin_away() -> None:
    after = DERIVED.changed({Label.DIFFICULTY: None}, LabelOrigin.PERSON)
    assert after == FourTuple(modal="text", origins={"modal": "content"})
    assert after.missing() == (Label.ABILITY_BRANCH, Label.KNOWLEDGE, Label.DIFFICULTY)


def test_a_change_is_read_from_a_form() -> None:
    raw = {"difficulty": "5", "modal": "", "knowledge": "optics", "ability_branch": "reasoning"}
    assert read_change(raw) == {
        Label.DIFFICULTY: 5,
        Label.MODAL: None,
        Label.KNOWLEDGE: "optics",
        Label.ABILITY_BRANCH: "reasoning",
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("difficulty", 0),
        ("difficulty", 6),
        ("difficulty", "3.0"),
        ("difficulty", True),
        ("difficulty", "５"),
        ("difficulty", 3.0),
        ("modal", "smell"),
        ("ability_branch", 1),
        ("knowledge", 7),
        ("level", 3),
    ],
)
def test_what_is_no_label_is_refused(name: str, value: object) -> None:
    with pytest.raises(BadLabel) as refused:
        read_change({name: value})
    assert (refused.value.label, refused.value.value) == (name, value)
