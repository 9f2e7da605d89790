"""Reads the labels that a model suggests, or says why they cannot be taken.

All three must be named; null is "cannot tell". A published name of a place in
the taxonomy is as good as its code where it names one place alone. Any other
value refuses the whole reply: a suggestion is taken as it was said, or not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evaluations.suggesting.rules.reply_json import (
    LONGEST_VALUE,
    ReplyFault,
    Unreadable,
    one_object,
)
from questions.rules.four_tuple import BadLabel, Label, Value, read_change
from questions.rules.taxonomy import SLUGS, TAXONOMY, Category, Subclass
from questions.rules.vocabulary import AbilityBranch

LABEL_READER_VERSION = "labels-1"
ASKED = (Label.ABILITY_BRANCH, Label.KNOWLEDGE, Label.DIFFICULTY)
Names = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class LabelReading:
    """The labels as named (knowledge as its slug), or the *fault* and what its sentence names."""

    labels: Mapping[Label, Value] = field(default_factory=dict)
    span: tuple[int, int] | None = None
    fault: str = ""
    params: Mapping[str, str | int] = field(default_factory=dict)


def read_label_reply(reply: str, *, finish_reason: str = "stop") -> LabelReading:
    """What *reply* suggests; a reply that did not end by itself is not read."""
    try:
        found = one_object(reply, finish_reason)
        labels = {label: _value(label, found.value) for label in ASKED}
        if not any(labels.values()):
            raise Unreadable(ReplyFault.NO_LABEL)
    except Unreadable as why:
        return LabelReading(fault=why.code, params=why.params)
    return LabelReading(labels, found.span)


def _value(label: Label, said: Mapping[str, Any]) -> Value:
    if label.value not in said:
        raise Unreadable(ReplyFault.MISSING_LABEL, label=label.value)
    raw = said[label.value]
    if label in _NAMES and isinstance(raw, str) and raw.strip():
        raw = _place(label, raw.strip())
    try:
        value = read_change({label.value: raw})[label]
    except BadLabel:
        raise _unknown(label, raw) from None
    if label is Label.KNOWLEDGE and value is not None and value not in SLUGS:
        raise _unknown(label, raw)
    return value


def _place(label: Label, name: str) -> str:
    """The code that *name* is or stands for; the name itself where none is known by it."""
    if name in SLUGS:
        return name
    places = _NAMES[label].get(name.casefold(), frozenset())
    if len(places) > 1:
        raise Unreadable(ReplyFault.SEVERAL_PLACES, label=label.value, value=name[:LONGEST_VALUE])
    return next(iter(places), name)


def _unknown(label: Label, raw: object) -> Unreadable:
    value = str(raw)[:LONGEST_VALUE]
    return Unreadable(ReplyFault.UNKNOWN_VALUE, label=label.value, value=value)


def _by_name() -> dict[Label, Names]:
    """Codes by their own spelling and by their published names, without regard to case."""
    branches: dict[str, set[str]] = defaultdict(set)
    for branch in AbilityBranch:
        for name in (branch.value, branch.english, branch.chinese):
            branches[name.casefold()].add(branch.value)
    places: dict[str, set[str]] = defaultdict(set)
    for category in TAXONOMY:
        here: list[Category | Subclass] = [category, *category.subclasses]
        for place in here:
            for name in (place.slug, place.english, place.chinese):
                places[name.casefold()].add(place.slug)
    return {Label.ABILITY_BRANCH: _frozen(branches), Label.KNOWLEDGE: _frozen(places)}


def _frozen(names: Mapping[str, set[str]]) -> Names:
    return {name: frozenset(codes) for name, codes in names.items()}


_NAMES = _by_name()
