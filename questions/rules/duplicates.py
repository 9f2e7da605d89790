"""The same question twice: equal texts, nearly equal texts, and keys that contradict each other.

An item is compared by its parts: the whole of it, and each of its sub-questions
with the options, because one benchmark prints four questions under a passage
where another has four items. Stem and options must both be alike, so that two
questions about one table are not taken for one. Keys are compared by the text
of the option, never by letter.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from questions.rules.figures import mentioned_figure
from questions.rules.options import PrintedOptions, option_groups
from questions.rules.plain_text import comparable
from questions.rules.text_runs import RUN, TextRuns, contained, runs_of
from questions.rules.vocabulary import CHOICE_TYPES, QuestionType

NEAR = 0.75  # Jaccard's index of stem and options together
NEAR_WITHOUT_OPTIONS = 0.85  # the numbers of an exercise are all that tells it from another
SAME_OPTIONS = 0.7
SURE = 0.9  # from here on two keys can contradict each other
SHORTEST = 60  # without its passage a part with fewer letters could be about another one
SAME_PASSAGE = 0.5

# Made as the same questions: translations, and one set with and without its passages.
BY_DESIGN = (
    frozenset({"logiqa-zh", "logiqa-en"}),
    frozenset({"sat-en", "sat-en-without-passage"}),
)

_CHINESE = re.compile("[一-龥]")
_SCORE = re.compile(r"[(（〔]\s{0,2}\d{1,2}\s{0,2}分\s{0,2}\$?\s{0,2}[)）〕]")
_NUMBER = re.compile(r"^\s{0,4}(?:[(（]?\d{1,3}\s{0,2}[.．、)）])+\s{0,4}")
_LAST_NUMBER = re.compile(r"(?:^|[\s。．）)])[(（]?\d{1,3}\s{0,2}[.．、](?!\d)")


@dataclass(frozen=True, slots=True)
class BankItem:
    """An item to be compared; *ref* is what the caller knows it by."""

    ref: int
    task: str
    question_type: str
    stem: str
    passage: str = ""
    options: tuple[str, ...] = ()
    letters: str = ""
    answer_key: tuple[str, ...] = ()
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Likeness:
    """Two items with the same question.

    ``exact`` says that nothing but width, space and punctuation differs between
    the whole items. ``parts`` are the sub-questions (from 1) that are alike, empty
    where the whole items are; ``conflicts`` are those of them (0 for the whole)
    whose keys name options with different texts.
    """

    first: int
    second: int
    similarity: float
    exact: bool
    parts: tuple[tuple[int, int], ...]
    conflicts: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A whole item (*sub* 0) or one sub-question, with its texts made comparable."""

    item: int
    sub: int
    stem: str
    options: tuple[str, ...]
    key: frozenset[str]
    passage: str

    @property
    def length(self) -> int:
        return len(self.stem) + sum(map(len, self.options))


@dataclass(frozen=True, slots=True)
class _Alike:
    """Two parts that are the same question, and how much of them is equal (0 to 1)."""

    similarity: float
    one: _Part
    other: _Part


def find_likenesses(
    items: Sequence[BankItem], among: Collection[int] | None = None
) -> list[Likeness]:
    """Every pair of *items* with the same question, in the order of *items*.

    With *among*, only pairs that touch one of those refs. The same input always
    gives the same result.
    """
    parts = [part for place, item in enumerate(items) for part in _parts(place, item)]
    runs = TextRuns([(part.stem, *part.options) for part in parts])
    changed = None if among is None else set(among)
    pairs: dict[tuple[int, int], list[_Alike]] = defaultdict(list)
    for left, right in runs.likely_pairs():
        one, other = items[parts[left].item], items[parts[right].item]
        if one is other or frozenset({one.task, other.task}) in BY_DESIGN:
            continue
        if one.images and other.images and one.images != other.images:
            continue  # the same words about another picture
        if changed is not None and one.ref not in changed and other.ref not in changed:
            continue
        similarity = runs.jaccard(left, right)
        if _same_question(similarity, parts[left], parts[right]):
            alike = _Alike(similarity, parts[left], parts[right])
            pairs[alike.one.item, alike.other.item].append(alike)
    found = [_likeness(items, pair, alike) for pair, alike in sorted(pairs.items())]
    return [likeness for likeness in found if likeness is not None]


def _same_question(similarity: float, one: _Part, other: _Part) -> bool:
    """Alike as a whole, in the options by themselves, and asked about the same passage."""
    if bool(one.options) != bool(other.options):
        return False
    if similarity < (NEAR if one.options else NEAR_WITHOUT_OPTIONS):
        return False
    if one.options and not _same_options(one.options, other.options):
        return False
    return _same_passage(one, other)


def _same_options(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Half of the options equal, or Chinese ones nearly so.

    English options may differ in one letter or number only and be others.
    """
    if 2 * len(set(one) & set(other)) >= max(len(one), len(other)):
        return True
    if not _CHINESE.search("".join(one)):
        return False
    runs = TextRuns([one, other])
    return runs.jaccard(0, 1) >= SAME_OPTIONS


def _same_passage(one: _Part, other: _Part) -> bool:
    """Whether one passage holds the other; without one, the part must speak for itself."""
    if one.passage == other.passage and one.passage:
        return True
    if not one.passage or not other.passage:
        return min(one.length, other.length) >= SHORTEST or one.passage == other.passage
    left, right = (runs_of(comparable(part.passage)) for part in (one, other))
    return contained(left, right) >= SAME_PASSAGE


def _likeness(
    items: Sequence[BankItem], pair: tuple[int, int], found: list[_Alike]
) -> Likeness | None:
    """One likeness of two items: of the wholes where they are alike, else of their parts.

    Where both speak of a figure that is not there, the figures may be what tells
    them apart: they count only as equal texts, and their keys are not compared.
    """
    whole = [alike for alike in found if alike.one.sub == alike.other.sub == 0]
    parts = sorted({(alike.one.sub, alike.other.sub) for alike in found})
    conflicts = sorted({(alike.one.sub, alike.other.sub) for alike in found if _contradict(alike)})
    exact = any(_equal(alike.one, alike.other) for alike in whole)
    if all(_lacks_a_figure(items[place]) for place in pair):
        if not exact:
            return None
        conflicts = []
    return Likeness(
        first=items[pair[0]].ref,
        second=items[pair[1]].ref,
        similarity=round(max(alike.similarity for alike in whole or found), 3),
        exact=exact,
        parts=() if whole else tuple(parts),
        conflicts=tuple(conflicts),
    )


def _lacks_a_figure(item: BankItem) -> bool:
    return not item.images and mentioned_figure(item.stem) is not None


def _equal(one: _Part, other: _Part) -> bool:
    same_text = one.stem == other.stem and sorted(one.options) == sorted(other.options)
    return same_text and comparable(one.passage) == comparable(other.passage)


def _contradict(alike: _Alike) -> bool:
    """Whether the same question has two keys; only where both offer the same options."""
    one, other = alike.one, alike.other
    if alike.similarity < SURE or not one.key or not other.key:
        return False
    return set(one.options) == set(other.options) and one.key != other.key


def _parts(place: int, item: BankItem) -> Iterator[_Part]:
    if item.options and not any(map(comparable, item.options)):
        return  # nothing but an instruction such as "choose the figure that fits"
    groups = [] if item.options else _groups(item)
    single = len(item.answer_key) <= 1
    if item.options or (len(groups) == 1 and single):
        options = item.options or groups[0].texts
        stem = item.stem if item.options else item.stem[: groups[0].begin]
        yield _part(place, 0, stem, item.passage, options, item.letters, item.answer_key)
        return
    yield _part(place, 0, item.stem, item.passage, (), "", ())
    if len(groups) == len(item.answer_key) and item.question_type == QuestionType.SEVERAL_QUESTIONS:
        yield from _sub_questions(place, item, groups)


def _groups(item: BankItem) -> list[PrintedOptions]:
    return option_groups(item.stem, item.letters) if item.question_type in CHOICE_TYPES else []


def _sub_questions(place: int, item: BankItem, groups: list[PrintedOptions]) -> Iterator[_Part]:
    end = 0
    for sub, (group, key) in enumerate(zip(groups, item.answer_key, strict=True), start=1):
        asked = _last_question(item.stem[end : group.begin])
        if len(comparable(asked)) > RUN:
            yield _part(place, sub, asked, item.stem, group.texts, item.letters, (key,))
        end = group.end


def _last_question(text: str) -> str:
    """The question at the end of *text*, without the passage before it."""
    numbers = list(_LAST_NUMBER.finditer(text))
    if numbers:
        return text[numbers[-1].end() :]
    return text.rstrip().rpartition("\n")[2][-200:]


def _part(
    place: int,
    sub: int,
    stem: str,
    passage: str,
    options: Sequence[str],
    letters: str,
    keys: Sequence[str],
) -> _Part:
    choices = tuple(map(comparable, options))
    text = dict(zip(letters, choices, strict=False))
    named = frozenset(text[letter] for letter in "".join(keys) if letter in text)
    plain = comparable(_NUMBER.sub("", _SCORE.sub("", stem)))
    return _Part(place, sub, plain, choices, named, passage)
