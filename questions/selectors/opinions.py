"""Reading opinions: which count, what a model suggests, where two curators differ."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from gradeapp.accounts.models import User
from questions.models import LabelOpinion, LabelResolution, Question
from questions.rules.four_tuple import FourTuple, Label, Value
from questions.rules.label_agreement import LabelAgreement, label_agreement

CHUNK = 500  # SQLite takes a limited number of values in one statement
# The opinion itself, or the one that an undo gave back.
_SAID = Coalesce("restores", "pk")
_EMPTY = Q(ability_branch="", knowledge__isnull=True, difficulty__isnull=True, modal="")


def as_labels(opinion: LabelOpinion) -> FourTuple:
    """The labels of an opinion; it has no origins."""
    return FourTuple(
        opinion.ability_branch, opinion.knowledge_id, opinion.difficulty, opinion.modal
    )


def counting_opinions() -> QuerySet[LabelOpinion]:
    """Return the opinion of each curator on each item that none follows, unless it is empty."""
    people = LabelOpinion.objects.filter(author__isnull=False, followed_by__isnull=True)
    return people.exclude(_EMPTY)


def own_opinion(question: Question, user: User) -> LabelOpinion | None:
    """The opinion of *user* on the item, None where there is none or it was undone."""
    return counting_opinions().filter(question=question, author=user).first()


def last_opinion(user: User) -> LabelOpinion | None:
    """The opinion that *user* gave last and did not undo; one that an undo gave back is as old
    as it was.
    """
    found = counting_opinions().filter(author=user)
    return found.select_related("question__label", "wrote").order_by(-_SAID).first()


def suggestion_for(question: Question) -> LabelOpinion | None:
    """What a model suggested last for the item."""
    found = LabelOpinion.objects.filter(question=question).exclude(model_name="")
    return found.select_related("knowledge__parent").order_by("-pk").first()


class Suggested(NamedTuple):
    """A model's opinion that counts: the key of its row, and its labels."""

    key: int
    labels: dict[Label, Value]


def counting_suggestions(questions: Iterable[int]) -> dict[tuple[int, str], Suggested]:
    """What each model says of each of these items, by item and model."""
    found: dict[tuple[int, str], Suggested] = {}
    keys = sorted(set(questions))
    columns = ("pk", "question_id", "model_name", *(label.value for label in Label))
    for at in range(0, len(keys), CHUNK):
        rows = LabelOpinion.objects.filter(
            question__in=keys[at : at + CHUNK], author=None, followed_by__isnull=True
        )
        for key, question, model, *values in rows.values_list(*columns):
            labels = zip(Label, values, strict=True)
            said = {label: value or None for label, value in labels}
            found[question, model] = Suggested(key, said)
    return found


@dataclass(frozen=True, slots=True)
class ModelShare:
    """What became of one model's suggestions, newest of each item.

    ``questions`` have one; ``answered`` of them a curator labelled with it in
    sight. ``taken`` counts by label how often the curator named the same value,
    ``compared`` how often both named one.
    """

    model: str
    questions: int
    answered: int
    compared: dict[Label, int]
    taken: dict[Label, int]


def model_shares() -> list[ModelShare]:
    """Each model whose suggestions are kept, with what curators made of them."""
    columns = [label.value for label in Label]
    people = counting_opinions().filter(suggestion__isnull=False).order_by("-pk")
    given = {key: values for key, *values in people.values_list("suggestion", *columns)}
    by_model: dict[str, list[list[tuple[Value, Value]]]] = defaultdict(list)
    questions: Counter[str] = Counter()
    said = LabelOpinion.objects.filter(author=None, followed_by__isnull=True).order_by("pk")
    for key, model, *values in said.values_list("pk", "model_name", *columns):
        questions[model] += 1
        if key in given:
            by_model[model].append(list(zip(values, given[key], strict=True)))
    return [_share(model, questions[model], by_model[model]) for model in sorted(questions)]


def _share(model: str, questions: int, answered: list[list[tuple[Value, Value]]]) -> ModelShare:
    compared: Counter[Label] = Counter()
    taken: Counter[Label] = Counter()
    for pairs in answered:
        for label, (suggested, named) in zip(Label, pairs, strict=True):
            if suggested and named:
                compared[label] += 1
                taken[label] += suggested == named
    return ModelShare(model, questions, len(answered), dict(compared), dict(taken))


@dataclass(frozen=True, slots=True)
class Given:
    """One counting opinion as values: for counting, without the rows behind it."""

    key: int
    question: int
    author: int
    labels: FourTuple


def double_labelled(*, also_seen: bool) -> dict[int, list[Given]]:
    """Items that two or more curators labelled, with their opinions in the order given.

    Without *also_seen*, opinions that were given with a suggestion or another's
    labels in sight are left out; what a curator said before they were counts in their place.
    """
    rows = counting_opinions() if also_seen else _independent_opinions()
    columns = ("pk", "question_id", "author_id", *(label.value for label in Label))
    found: dict[int, list[Given]] = defaultdict(list)
    for key, question, author, *labels in rows.order_by("pk").values_list(*columns):
        found[question].append(Given(key, question, author, FourTuple(*labels)))
    return {question: given for question, given in found.items() if len(given) > 1}


def _independent_opinions() -> QuerySet[LabelOpinion]:
    """Of each curator on each item, unless they have undone it: the last that saw no other."""
    undo = LabelOpinion.objects.filter(_EMPTY | Q(restores__isnull=False), follows__isnull=False)
    undone = undo.annotate(of=Coalesce("follows__restores", "follows")).filter(of=OuterRef("said"))
    last = Q(followed_by__isnull=True) | Q(followed_by__seen_suggestion=True)
    alone = LabelOpinion.objects.filter(last, author__isnull=False, seen_suggestion=False)
    standing = counting_opinions().filter(question=OuterRef("question"), author=OuterRef("author"))
    alone = alone.exclude(_EMPTY).annotate(said=_SAID)
    return alone.filter(Exists(standing), ~Exists(undone))


def has_differed(question: Question, author: User) -> bool:
    """Whether an opinion of *author* and another person's have stood as a difference.

    Both are listed under *Differences* while they count; what *author* says of the item
    after that is not independent.
    """
    people = LabelOpinion.objects.filter(question=question, author__isnull=False).exclude(_EMPTY)
    given = list(people.annotate(next=F("followed_by")))
    return any(
        own.pk < (other.next or sys.maxsize)
        and other.pk < (own.next or sys.maxsize)
        and differing([as_labels(own), as_labels(other)])
        for own in given
        for other in given
        if own.author_id == author.pk != other.author_id
    )


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Two curators, how many items both labelled, and their agreement by label."""

    first: int
    second: int
    items: int
    labels: dict[Label, LabelAgreement[Value]]


def agreements(*, also_seen: bool = False) -> list[PairAgreement]:
    """Agreement of every two curators with items in common, most items first.

    The curator whose account is older is the first. An item counts for a label
    where both named a value.
    """
    shared: dict[tuple[int, int], list[tuple[FourTuple, FourTuple]]] = defaultdict(list)
    for given in double_labelled(also_seen=also_seen).values():
        for one, other in combinations(sorted(given, key=lambda g: g.author), 2):
            shared[one.author, other.author].append((one.labels, other.labels))
    found = [
        PairAgreement(first, second, len(both), {label: _agreement(label, both) for label in Label})
        for (first, second), both in shared.items()
    ]
    return sorted(found, key=lambda pair: (-pair.items, pair.first, pair.second))


def _agreement(label: Label, both: Iterable[tuple[FourTuple, FourTuple]]) -> LabelAgreement[Value]:
    values = [(one.value(label), other.value(label)) for one, other in both]
    return label_agreement([pair for pair in values if None not in pair])


@dataclass(frozen=True, slots=True)
class Difference:
    """An item on which curators differ: the labels, and up to which opinion this holds."""

    question: int
    labels: tuple[Label, ...]
    last: int


def open_differences() -> list[Difference]:
    """Items on which curators differ and nobody has resolved it since, oldest first."""
    resolved: dict[int, int] = {}
    for question, last in LabelResolution.objects.values_list("question_id", "last_opinion_id"):
        resolved[question] = max(last, resolved.get(question, 0))
    found = (
        Difference(question, differing([one.labels for one in given]), given[-1].key)
        for question, given in double_labelled(also_seen=True).items()
        if resolved.get(question, 0) < given[-1].key
    )
    return sorted((one for one in found if one.labels), key=lambda one: one.last)


def differing(given: Sequence[FourTuple]) -> tuple[Label, ...]:
    """The labels for which more than one value was named; an empty place names none."""
    return tuple(
        label for label in Label if len({labels.value(label) for labels in given} - {None}) > 1
    )


def opinions_on(questions: Iterable[int]) -> dict[int, list[LabelOpinion]]:
    """The counting opinions on each item, with names, in the order given."""
    found: dict[int, list[LabelOpinion]] = defaultdict(list)
    rows = counting_opinions().filter(question__in=list(questions)).order_by("pk")
    for opinion in rows.select_related("author", "knowledge__parent"):
        found[opinion.question_id].append(opinion)
    return found
