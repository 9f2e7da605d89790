"""The gate: what is wrong with one item, and whether it can still be scored fairly.

Each rule looks at one item and gives one finding with a code of ``ProblemCode``;
pairs of items are looked at in ``duplicates``. An item is quarantined where its
score would say something about the item instead of the answer. docs/datasets.md,
"The gate", gives the reasons.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from questions.rules.analysis_key import contradicted, sections
from questions.rules.figures import holds_picture, linked_pictures, mentioned_figure
from questions.rules.options import option_groups
from questions.rules.plain_text import squeezed
from questions.rules.vocabulary import CHOICE_TYPES, Part, ProblemCode, QuestionType

Detail = dict[str, list[str] | list[int] | str | int]


@dataclass(frozen=True)
class Item:
    """What the gate looks at; the words of a question's revision.

    ``rubric_sums`` are the points that the accepted rubric gives for each
    sub-question, caps counted; empty where there is no rubric.
    """

    question_type: str
    stem: str
    letters: str = ""
    answer_key: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    passage: str = ""
    reference_answer: str = ""
    analysis: str = ""
    sub_marks: tuple[Decimal, ...] = ()
    images: tuple[str, ...] = ()
    rubric_sums: dict[int, Decimal] = field(default_factory=dict)

    @property
    def is_choice(self) -> bool:
        """Whether letters are the answer."""
        return self.question_type in CHOICE_TYPES

    @cached_property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The options of each sub-question; empty where they are neither given nor printed."""
        if not self.is_choice:
            return ()
        if self.options:
            return (self.options,)
        return tuple(group.texts for group in option_groups(self.stem, self.letters))


@dataclass(frozen=True)
class Finding:
    """One problem of an item; ``detail`` holds the values of its sentence."""

    code: ProblemCode
    quarantines: bool
    detail: Detail


def find_problems(item: Item) -> list[Finding]:
    """Everything that is wrong with *item*, at most one finding of each code."""
    return [finding for rule in RULES for finding in rule(item)]


def _key_outside(item: Item) -> Iterator[Finding]:
    if not item.is_choice:
        return
    outside = [key for key in item.answer_key if not set(key) <= set(item.letters)]
    if outside:
        detail: Detail = {"keys": outside, "letters": item.letters}
        yield Finding(ProblemCode.KEY_OUTSIDE, True, detail)


def _several_letters(item: Item) -> Iterator[Finding]:
    if not item.is_choice or item.question_type == QuestionType.MULTIPLE_CHOICE:
        return
    several = [key for key in item.answer_key if len(key) > 1]
    if several:
        yield Finding(ProblemCode.SEVERAL_LETTERS, True, {"keys": several})


def _key_count(item: Item) -> Iterator[Finding]:
    keys, marks = len(item.answer_key), len(item.sub_marks)
    if _objective(item) and keys and keys != marks:
        yield Finding(ProblemCode.KEY_COUNT, True, {"keys": keys, "marks": marks})


def _empty_key(item: Item) -> Iterator[Finding]:
    """No key; an open-ended item without an answer and a rubric cannot be marked by a scheme."""
    if _objective(item):
        empty = [sub for sub, key in enumerate(item.answer_key, start=1) if not key.strip()]
        if empty or not item.answer_key:
            yield Finding(ProblemCode.EMPTY_KEY, True, {"subs": empty})
    elif not item.reference_answer.strip() and not item.rubric_sums and not item.analysis.strip():
        yield Finding(ProblemCode.EMPTY_KEY, False, {"subs": []})


def _empty_options(item: Item) -> Iterator[Finding]:
    """Options without a text: nothing to choose from, unless a picture shows them."""
    empty: list[str] = []
    quarantines = False
    for sub, options in enumerate(item.groups):
        pairs = zip(item.letters, options, strict=False)
        blank = [letter for letter, text in pairs if not text.strip()]
        if not blank:
            continue
        name = f"{sub + 1}" if len(item.groups) > 1 else ""
        empty += [name + letter for letter in blank]
        key = item.answer_key[sub] if sub < len(item.answer_key) else ""
        unreadable = len(blank) == len(options) or bool(set(key) & set(blank))
        quarantines |= unreadable and not item.images
    if empty:
        yield Finding(ProblemCode.EMPTY_OPTIONS, quarantines, {"options": empty})


def _repeated_options(item: Item) -> Iterator[Finding]:
    """Equal options; unfair where the key is one of them, for then two letters are right."""
    repeated: list[str] = []
    quarantines = False
    for sub, options in enumerate(item.groups):
        key = item.answer_key[sub] if sub < len(item.answer_key) else ""
        name = f"{sub + 1}" if len(item.groups) > 1 else ""
        for letters in _equal(item.letters, options):
            repeated.append(name + letters)
            quarantines |= bool(set(key) & set(letters)) and not set(letters) <= set(key)
    if repeated:
        yield Finding(ProblemCode.REPEATED_OPTIONS, quarantines, {"options": repeated})


def _equal(letters: str, options: Sequence[str]) -> list[str]:
    """Letters that stand before the same text, as ``AC``.

    One picture behind all letters shows all the options, and is no repetition.
    """
    by_text: dict[str, str] = {}
    for letter, option in zip(letters, options, strict=False):
        if text := squeezed(option):
            by_text[text] = by_text.get(text, "") + letter
    if len(by_text) == 1 and holds_picture(options[0]):
        return []
    return [found for found in by_text.values() if len(found) > 1]


def _key_against_analysis(item: Item) -> Iterator[Finding]:
    if not item.is_choice or not item.analysis:
        return
    keys = item.answer_key
    parts = (item.analysis,) if len(keys) == 1 else sections(item.analysis, len(keys))
    found = [
        (sub, key, says[-1])
        for sub, (key, part) in enumerate(zip(keys, parts, strict=False), start=1)
        if (says := contradicted(key, part))
    ]
    if found:
        detail: Detail = {
            "subs": [sub for sub, _key, _says in found] if len(keys) > 1 else [],
            "keys": [key for _sub, key, _says in found],
            "says": [says for _sub, _key, says in found],
        }
        yield Finding(ProblemCode.KEY_AGAINST_ANALYSIS, True, detail)


def _missing_figure(item: Item) -> Iterator[Finding]:
    """A figure that the text speaks of. Often the words alone are enough, so this is a flag.

    A picture that is linked from elsewhere was part of the item: without it the
    item is not the one that was asked.
    """
    text = "\n".join((item.passage, item.stem, *item.options))
    if links := linked_pictures(text):
        yield Finding(ProblemCode.MISSING_FIGURE, True, {"links": links, "words": ""})
    elif not item.images and (words := mentioned_figure(text)) is not None:
        yield Finding(ProblemCode.MISSING_FIGURE, False, {"links": 0, "words": words})


def _rubric_sum(item: Item) -> Iterator[Finding]:
    # A rubric of an earlier text may have points for sub-questions that are gone.
    sums, marks = item.rubric_sums, dict(enumerate(item.sub_marks, start=1))
    pairs = [(sub, sums.get(sub, Decimal(0)), marks.get(sub, Decimal(0))) for sub in marks | sums]
    wrong = sorted(pair for pair in pairs if sums and pair[1] != pair[2])
    if wrong:
        detail: Detail = {
            "subs": [sub for sub, _given, _full in wrong],
            "given": [f"{given.normalize():f}" for _sub, given, _full in wrong],
            "full": [f"{full.normalize():f}" for _sub, _given, full in wrong],
        }
        yield Finding(ProblemCode.RUBRIC_SUM, False, detail)


def _objective(item: Item) -> bool:
    return QuestionType(item.question_type).part is Part.OBJECTIVE


RULES = (
    _key_outside,
    _several_letters,
    _key_count,
    _empty_key,
    _empty_options,
    _repeated_options,
    _key_against_analysis,
    _missing_figure,
    _rubric_sum,
)
