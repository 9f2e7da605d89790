"""AGIBench's four-tuple <ability branch, knowledge, difficulty, modal> as a value, and its changes.

Source: AGIBench, section 3 (four-tuple labelling). Any of the four may be
empty. A change names the labels to set; an empty value takes a label away.
Knowledge is an open list, so this module treats its key as a number that means
nothing; whoever calls knows the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from gradeapp.common.named import Named
from questions.rules.vocabulary import AbilityBranch, LabelOrigin, Modal

LEVELS = (1, 2, 3, 4, 5)
Value = str | int | None


class Label(Named):
    """The four places of the tuple, in its order; the value is the column's name."""

    ABILITY_BRANCH = "ability_branch", "Ability branch", "能力分支"
    KNOWLEDGE = "knowledge", "Knowledge", "知识点"
    DIFFICULTY = "difficulty", "Difficulty", "难度"
    MODAL = "modal", "Modality", "模态"


class BadLabel(ValueError):
    """A change that cannot be read: ``label`` was to become ``value``."""

    def __init__(self, label: str, value: object) -> None:
        super().__init__(f"{label}: {value!r}")
        self.label = label
        self.value = value


@dataclass(frozen=True, slots=True)
class FourTuple:
    """The labels of one item; ``origins`` says of each label that is set where it comes from."""

    ability_branch: str = ""
    knowledge: int | None = None
    difficulty: int | None = None
    modal: str = ""
    origins: Mapping[str, str] = field(default_factory=dict)

    def value(self, label: Label) -> Value:
        """What stands at one place; None where nothing does."""
        return getattr(self, label.value) or None

    def missing(self) -> tuple[Label, ...]:
        """The places that are empty."""
        return tuple(label for label in Label if self.value(label) is None)

    def differences(self, change: Mapping[Label, Value]) -> dict[Label, Value]:
        """What of *change* is not so already."""
        return {label: new for label, new in change.items() if self.value(label) != (new or None)}

    def changed(self, change: Mapping[Label, Value], origin: LabelOrigin) -> Self:
        """The labels after *change*; what differs now comes from *origin*, the rest stays."""
        differs = self.differences(change)
        values = {label: self.value(label) for label in Label} | differs
        origins = {name: kept for name, kept in self.origins.items() if name not in differs}
        origins |= {label.value: origin.value for label, new in differs.items() if new}
        knowledge, difficulty = values[Label.KNOWLEDGE], values[Label.DIFFICULTY]
        return type(self)(
            ability_branch=str(values[Label.ABILITY_BRANCH] or ""),
            knowledge=int(knowledge) if knowledge else None,
            difficulty=int(difficulty) if difficulty else None,
            modal=str(values[Label.MODAL] or ""),
            origins=origins,
        )


def read_change(change: Mapping[str, object]) -> dict[Label, Value]:
    """*change* as labels and values: known branch and modal, a level from 1 to 5.

    Knowledge stays the slug that was given. An empty value (``None`` or ``""``)
    takes the label away. Raises BadLabel for anything else.
    """
    return dict(_read(change))


def _read(change: Mapping[str, object]) -> Iterator[tuple[Label, Value]]:
    for name, raw in change.items():
        if name not in set(Label):
            raise BadLabel(str(name), raw)
        label = Label(name)
        yield label, None if raw in (None, "") else _value(label, raw)


def _value(label: Label, raw: object) -> Value:
    if label is Label.DIFFICULTY:
        return _level(raw)
    if not isinstance(raw, str):
        raise BadLabel(label, raw)
    closed: dict[Label, type[Named]] = {
        Label.ABILITY_BRANCH: AbilityBranch,
        Label.MODAL: Modal,
    }
    if label in closed and raw not in set(closed[label]):
        raise BadLabel(label, raw)
    return str(raw)


def _level(raw: object) -> int:
    """A level as a number or as one written digit; True is no level."""
    text = str(raw) if isinstance(raw, int | str) and not isinstance(raw, bool) else ""
    levels = {str(level): level for level in LEVELS}
    if text not in levels:
        raise BadLabel(Label.DIFFICULTY, raw)
    return levels[text]
