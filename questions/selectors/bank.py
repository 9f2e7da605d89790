"""The bank: the list, its search and saved views, one item whole, the addresses of images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    F,
    FloatField,
    OuterRef,
    Prefetch,
    QuerySet,
    Subquery,
    Sum,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Coalesce, Greatest, NullIf

from gradeapp.accounts.models import User
from questions.models import (
    Asset,
    Dataset,
    HumanRate,
    ItemProblem,
    Question,
    QuestionRevision,
    Rubric,
    SavedView,
    SearchText,
)
from questions.rules.search_words import Piece, search_words, searchable, snippet
from questions.rules.vocabulary import RateKind
from questions.selectors.gate import live_problem

# The key comes last: an order that leaves ties would show a row on two pages, or on none.
BY_PLACE = ("task__dataset__slug", "task__slug", "position", "pk")


def question_list() -> QuerySet[Question]:
    """Every item with what a list shows; one query, whatever the number of rows."""
    return Question.objects.select_related("task__dataset", "current").order_by(*BY_PLACE)


def by_place() -> QuerySet[Question]:
    """Every item that has a text, in the order of datasets, tasks and places."""
    return Question.objects.filter(current__isnull=False).order_by(*BY_PLACE)


def human_rate() -> Subquery:
    """The share of people who solved an item: its uncorrected rates joined by their weights."""
    people = NullIf("sample_size", 0)
    plain = Cast("weight", FloatField())
    # Sizes count where every rate names one (questions.rules.human_reference).
    joined = Case(
        When(sized=Count("pk"), then=_mean(plain * people)),
        default=_mean(plain),
        output_field=FloatField(),
    )
    # Read once for all items; asked of each rate, "is there none that corrects it" costs a look-up.
    corrected = HumanRate.objects.filter(corrects__isnull=False).values("corrects")
    rates = (
        HumanRate.objects.filter(question=OuterRef("pk"), kind=RateKind.AVERAGE)
        .exclude(pk__in=corrected)
        .order_by()
        .values("question")
        .annotate(sized=Count(people))
        .annotate(joined=joined)
    )
    return Subquery(rates.values("joined"), output_field=FloatField())


def _mean(weight: Combinable) -> Combinable:
    return Sum(Cast("value", FloatField()) * weight) / Sum(weight, output_field=FloatField())


def open_problems() -> QuerySet[ItemProblem]:
    """Problems of current revisions that nobody has decided about."""
    return ItemProblem.objects.filter(live_problem(), decision=None)


def problems_of(question: Question) -> QuerySet[ItemProblem]:
    """The problems of the item's current revision, decided ones too, with the other item."""
    return (
        ItemProblem.objects.filter(question=question, revision=question.current)
        .select_related("other__question__task__dataset", "decision__author")
        .order_by("pk")
    )


def with_open_problems(rows: QuerySet[Question], kind: bool | str) -> QuerySet[Question]:
    """Those of *rows* with an open problem (True), without one (False), or with one of a code."""
    problems = open_problems()
    if isinstance(kind, str):
        problems = problems.filter(code=kind)
    questions = problems.values("question")
    return rows.exclude(pk__in=questions) if kind is False else rows.filter(pk__in=questions)


def ordered(rows: QuerySet[Question], sort: str) -> QuerySet[Question]:
    """*rows* by year, difficulty or rate (with ``-`` the other way round), or by their last change.

    Items without a value stand last; equal ones stand by place.
    """
    if sort == "changed":
        labelled = Coalesce("label__created_at", "current__created_at")
        return rows.order_by(Greatest("current__created_at", labelled).desc(), "-pk")
    name = sort.removeprefix("-")
    if name == "rate":
        rows = rows.alias(rate=human_rate())
    column = F({"difficulty": "label__difficulty"}.get(name, name))
    down = sort.startswith("-")
    by_value = column.desc(nulls_last=True) if down else column.asc(nulls_last=True)
    return rows.order_by(by_value, *BY_PLACE)


def shown_rows(keys: Sequence[int]) -> list[Question]:
    """The items of one page with all that their rows show, in the order of *keys*.

    A constant number of queries; ``open_problems`` is a list on each.
    """
    rows = (
        Question.objects.filter(pk__in=keys)
        .select_related("task__dataset", "current", "label__knowledge")
        .annotate(human_rate=human_rate())
        .prefetch_related(Prefetch("problems", open_problems(), to_attr="open_problems"))
    )
    found = {row.pk: row for row in rows}
    return [found[key] for key in keys if key in found]


def question_whole(public_id: UUID) -> Question | None:
    """One item with its labels and its rubrics, newest first; None if there is none."""
    rubrics = Rubric.objects.order_by("-version").prefetch_related("points")
    return (
        Question.objects.select_related("task__dataset", "current", "label__knowledge__parent")
        .prefetch_related(Prefetch("rubrics", rubrics))
        .filter(public_id=public_id)
        .first()
    )


def accepted_rubric(question: Question) -> Rubric | None:
    """Return the rubric of an item that counts, if it has one."""
    return Rubric.objects.filter(counts_for=question).first()


def image_addresses(dataset: Dataset | int, names: Iterable[str]) -> dict[str, str]:
    """The address of each of the dataset's images that is named in *names*."""
    wanted = list(names)
    if not wanted:
        return {}
    found = Asset.objects.filter(dataset=dataset, name__in=wanted)
    return {
        name: f"/questions/images/{key}/" for name, key in found.values_list("name", "public_id")
    }


def image(public_id: UUID) -> Asset | None:
    """One image of the bank."""
    return Asset.objects.filter(public_id=public_id).first()


def distinct_years() -> list[int]:
    """The years that items of the bank are from, newest first."""
    years = Question.objects.exclude(year=None).order_by().values_list("year", flat=True)
    return sorted({year for year in years.distinct() if year is not None}, reverse=True)


def views_of(user: User) -> QuerySet[SavedView]:
    """The views of *user*, by name."""
    return SavedView.objects.filter(owner=user).order_by("name")


def searchable_parts(revision: QuestionRevision) -> list[str]:
    """The texts of *revision* that search looks in; the stem first, as a list shows it."""
    return [
        revision.stem,
        revision.passage,
        *revision.options,
        " ".join(revision.answer_key),
        revision.reference_answer,
        revision.analysis,
    ]


def holding_words(rows: QuerySet[Question], query: str) -> QuerySet[Question]:
    """Those of *rows* whose current revision holds every word of *query*.

    None where not all of it can be looked for: with a part of it, more would be found.
    """
    if not query.strip():
        return rows
    if not searchable(query):
        return rows.none()
    words = search_words(query)
    # The texts are read in one go; joined to each item they would be looked up one by one.
    texts = SearchText.objects.all()
    for word in words:
        texts = texts.filter(text__contains=word)
    return rows.filter(current__in=texts.values("revision"))


def hit(revision: QuestionRevision, words: Sequence[str]) -> list[Piece]:
    """The line of *revision* around its first hit, in pieces; [] where none is seen."""
    return snippet(searchable_parts(revision), words)
