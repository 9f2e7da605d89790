"""Own keys of the desk: what may be chosen, what clashes, what a pressed key then does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluations.marking.desk.rules.desk_keys import (
    BASE,
    Action,
    KeyFault,
    KeyRefused,
    chosen_keys,
    default,
    own_keys,
    translation,
)

CHARACTERS = st.sampled_from([*"abcdefghijklmnopqrstuvwxyz.,;[]?/é", ""])


def test_the_defaults_are_the_keys_that_the_protocol_names() -> None:
    keys = "".join(default(action) for action in Action)
    assert keys == ".mocfsueqanhp[]r?"
    assert translation({}) == {}


@pytest.mark.parametrize(
    ("wanted", "own", "pressed"),
    [
        ({"undo": "z"}, {"undo": "z"}, {"u": "", "z": "u"}),
        ({"undo": "s", "skip": "u"}, {"undo": "s", "skip": "u"}, {"s": "u", "u": "s"}),
        ({"undo": ""}, {"undo": ""}, {"u": ""}),
        ({"on": "j", "back": "K"}, {"on": "j", "back": "k"}, {"j": "ArrowDown", "k": "ArrowUp"}),
        ({"half": "。", "help": "？"}, {}, {}),  # the same keys on a Chinese keyboard
        ({"save": " g "}, {"save": "g"}, {"g": "Enter"}),
        ({"undo": "c", "comment": "u", "flag": ""},) * 2 + ({"u": "c", "c": "u", "f": ""},),
    ],
)
def test_own_keys_lead_to_the_keys_that_the_scripts_know(
    wanted: dict[str, str], own: dict[str, str], pressed: dict[str, str]
) -> None:
    assert own_keys(wanted) == own
    assert translation(own) == pressed


@pytest.mark.parametrize(
    ("wanted", "code", "key", "actions"),
    [
        ({"undo": "s"}, KeyFault.TWICE, "s", ("skip", "undo")),
        ({"on": "x", "more": "X"}, KeyFault.TWICE, "x", ("on", "more")),
        ({"half": "5"}, KeyFault.DIGIT, "5", ("half",)),
        ({"half": "５"}, KeyFault.DIGIT, "５", ("half",)),
        ({"half": "ab"}, KeyFault.NOT_A_KEY, "ab", ("half",)),
        ({"half": "\x00"}, KeyFault.NOT_A_KEY, "\x00", ("half",)),
        ({"quit": "x"}, KeyFault.NO_ACTION, "", ("quit",)),
    ],
)
def test_what_cannot_be_a_key_is_refused(
    wanted: dict[str, str], code: KeyFault, key: str, actions: tuple[str, ...]
) -> None:
    with pytest.raises(KeyRefused) as refused:
        own_keys(wanted)
    assert (refused.value.code, refused.value.key, refused.value.actions) == (code, key, actions)


@given(wanted=st.dictionaries(st.sampled_from([action.value for action in Action]), CHARACTERS))
def test_each_character_does_at_most_one_thing(wanted: dict[str, str]) -> None:
    try:
        own = own_keys(wanted)
    except KeyRefused:
        return
    pressed, chosen = translation(own), chosen_keys(own)
    for action, key in chosen.items():
        if key:
            assert pressed.get(key, key) == BASE[action]
    for action in Action:  # a default that was given up does nothing, or another's work
        if (old := default(action)) and chosen[action] != old:
            assert pressed[old] != BASE[action]
    assert own_keys(own) == own
