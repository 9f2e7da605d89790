"""AGIBench's four-tuple <ability branch, knowledge, difficulty, modal> as a value, and its changes.

Source: AGIBench, section 3 (four-tuple labelling). Any of the four may be
empty. A change names the labels to set; an empty value takes a label away.
Knowledge is an open list, so this module treats its key as a number that means
nothing; whoever calls knows the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Self

from gradeapp.common.named import Named
from questions.rules.vocabulary import AbilityBranch, LabelOrigin, Modal

# The lowest rate of each level, from the easiest; what is below all is level 5.
LOWER_BOUNDS: tuple[tuple[Decimal, int], ...] = (
    (Decimal("0.8"), 1),
    (Decimal("0.6"), 2),
    (Decimal("0.4"), 3),
    (Decimal("0.2"), 4),
)
HARDEST = 5


def difficulty_level(rate: Decimal) -> int:
    """The level, 1 (easy) to 5 (hard), of a rate from 0 to 1; raises ValueError outside.

    The rate counts as it is, without rounding: 0.79996 is level 2.
    """
    if not rate.is_finite() or not 0 <= rate <= 1:
        raise ValueError(f"a rate lies between 0 and 1, not {rate}")
    return next((level for bound, level in LOWER_BOUNDS if rate >= bound), HARDEST)


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


# AGIBench, section 3.2, of 927 items; which item is which is not published.
PAPER_COUNTS = {
    Modal.TEXT: 863,
    Modal.TEXT_TABLE: 10,
    Modal.TEXT_IMAGE: 38,
    Modal.IMAGE: 5,
    Modal.TEXT_IMAGE_TABLE: 11,
}

_IMAGE = re.compile(r"!\[[^\]\n]*\]\([^)\s]*\)|<img\b[^>]*>", re.IGNORECASE)
_TABLE = re.compile(
    r"\\begin\s*\{(?:tabular|tabularx|longtable)\*?\}"
    r"|\\begin\s*\{array\}\s*\{[^}|]*\|[^}|]*\|"  # one bar is a matrix's, two are a table's
    r"|<table\b"
    r"|^[ \t]*\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+[ \t]*(?::?-{2,}:?)?[ \t]*$",  # the rule under a head
    re.IGNORECASE | re.MULTILINE,
)
_WORD = re.compile(r"\w")


def modal_of(
    stem: str, options: Iterable[str] = (), passage: str = "", images: Iterable[str] = ()
) -> Modal:
    """The modal of one item; *images* are the names of its pictures, also those not in the text."""
    question = f"{passage}\n{stem}"
    asked = "\n".join((question, *options))
    has_image = any(True for _ in images) or _IMAGE.search(asked) is not None
    if _TABLE.search(asked) is not None:
        return Modal.TEXT_IMAGE_TABLE if has_image else Modal.TEXT_TABLE
    if not has_image:
        return Modal.TEXT
    has_words = _WORD.search(_IMAGE.sub("", question)) is not None
    return Modal.TEXT_IMAGE if has_words else Modal.IMAGE


@dataclass(frozen=True, slots=True)
class Rate:
    """One rate as a share from 0 to 1; ``sample_size`` is None where the source names none."""

    value: Decimal
    weight: Decimal = Decimal(1)
    sample_size: int | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """The joined rate of an item from ``rates`` rates.

    ``people`` is the sum of the sample sizes, None where one of them is missing.
    """

    value: Decimal
    rates: int
    people: int | None


def joined(rates: Sequence[Rate]) -> Reference | None:
    """The joined rate; None where there is none, or where no weight is above 0."""
    sizes = [rate.sample_size for rate in rates if rate.sample_size]
    sized = len(sizes) == len(rates)
    weights = [
        rate.weight * rate.sample_size if sized and rate.sample_size else rate.weight
        for rate in rates
    ]
    whole = sum(weights, Decimal(0))
    if whole <= 0:
        return None
    value = sum((w * r.value for w, r in zip(weights, rates, strict=True)), Decimal(0)) / whole
    return Reference(value, len(rates), sum(sizes) if sized else None)
