"""What leads see of reviews of wrong answers: lists, progress, and the figures with their rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from evaluations.capability.rules.dimensions import Dimension, asked_of
from evaluations.capability.rules.figures import (
    Judged,
    ReviewerPair,
    TimesNamed,
    both_judged,
    differing,
    reviewer_pairs,
    share_of_ones,
    weaknesses_named,
)
from evaluations.capability.rules.weaknesses import BY_DIMENSION
from evaluations.facts.looks import in_small_cells
from evaluations.models import (
    AnswerFact,
    CapabilityJudgement,
    CapabilityReview,
    Condition,
    LanguageModel,
    ReviewSlot,
)
from evaluations.models.vocabulary import FactMarker, ReviewStatus
from evaluations.statistics.figure import Figure, Report, ReportRow
from evaluations.statistics.rows import ModelCondition
from evaluations.statistics.tally import ALL
from gradeapp.accounts.models import User
from gradeapp.accounts.names import names_apart
from questions.rules.vocabulary import Part

REPORT = "capability_review"


@dataclass(frozen=True, slots=True)
class ReviewerLoad:
    """One reviewer: judgements planned for them, those they gave, and whether they have left."""

    name: str
    planned: int
    judged: int
    left: bool


@dataclass(frozen=True, slots=True)
class TaskFigures:
    """One task, or ``ALL``: answers in the sample, those judged, and the share of each dimension.

    A dimension that the task does not ask for has None.
    """

    task: str
    answers: int
    judged: int
    shares: dict[Dimension, Figure | None]


@dataclass(frozen=True, slots=True)
class ReviewResult:
    """Every figure of a review; ``judged`` are the rows that they are computed from."""

    judged: tuple[Judged, ...]
    tasks: tuple[TaskFigures, ...]
    weaknesses: tuple[tuple[Dimension, tuple[tuple[str, TimesNamed], ...]], ...]
    pairs: tuple[ReviewerPair, ...]
    twice: int
    differing: int

    @property
    def answers(self) -> int:
        """Answers in the sample."""
        return max((task.answers for task in self.tasks), default=0)

    @property
    def reviewed(self) -> int:
        """Answers that somebody has judged."""
        return len({one.item for one in self.judged})


def review_list() -> QuerySet[Any]:
    """All reviews, newest first, with the judgements due and given."""
    return (
        CapabilityReview.objects.select_related("dataset")
        .annotate(
            answers=Count("items", distinct=True),
            due=Count("items__slots"),
            given=Count("items__slots", filter=Q(items__slots__reviewed=True)),
        )
        .order_by("-id")
    )


def review_called(public_id: UUID) -> CapabilityReview | None:
    """The review with this public id, with its counts."""
    found: CapabilityReview | None = review_list().filter(public_id=public_id).first()
    return found


def reviewer_loads(review: CapabilityReview) -> list[ReviewerLoad]:
    """Every reviewer by name, also those who have judged nothing or have left."""
    of_review = ReviewSlot.objects.filter(item__review=review)
    planned = dict(of_review.values_list("planned").annotate(n=Count("pk")).order_by())
    given = of_review.filter(reviewed=True)
    judged = dict(given.values_list("holder").annotate(n=Count("pk")).order_by())
    present = set(review.reviewers.values_list("pk", flat=True))
    people = User.objects.filter(pk__in={*present, *planned, *judged})
    names = names_apart(people)
    return [
        ReviewerLoad(names[p.pk], planned.get(p.pk, 0), judged.get(p.pk, 0), p.pk not in present)
        for p in people.order_by("display_name", "username")
    ]


def models_in(review: CapabilityReview) -> list[str]:
    """The names of the models whose answers are reviewed."""
    models = LanguageModel.objects.filter(runs__reviews=review).distinct()
    return list(models.order_by("name").values_list("name", flat=True))


def conditions_in(review: CapabilityReview) -> list[Condition]:
    """The conditions of the answers that are reviewed, by model and name."""
    found = Condition.objects.filter(runs__reviews=review).select_related("language_model")
    return list(found.order_by("language_model__name", "name").distinct())


@dataclass(frozen=True, slots=True)
class Share:
    """The answers of a review under one *condition*, or in one *run* (public id, key)."""

    condition: UUID | None = None
    run: int | None = None

    def at(self, path: str) -> Q:
        """The filter on the response at *path*."""
        wanted = Q()
        if self.condition is not None:
            wanted &= Q(**{f"{path}run__condition__public_id": self.condition})
        return wanted if self.run is None else wanted & Q(**{f"{path}run": self.run})


EVERYTHING = Share()


def current_judgements(
    review: CapabilityReview, share: Share = EVERYTHING
) -> list[CapabilityJudgement]:
    """The judgements that count of *share*, by item and person."""
    rows = CapabilityJudgement.objects.filter(slot__item__review=review, counts_for__isnull=False)
    rows = rows.filter(share.at("slot__item__response__"))
    rows = rows.select_related("slot__item__question__task")
    return list(rows.order_by("slot__item", "reviewer"))


def as_judged(row: CapabilityJudgement) -> Judged:
    """A judgement as the statistics take it."""
    question = row.slot.item.question
    asked = asked_of(question.task.slug, question.subject)
    return Judged(
        item=row.slot.item_id,
        task=question.task.slug,
        reviewer=row.reviewer_id,
        values={one.value: getattr(row, one.value) for one in asked},
        weaknesses=tuple(row.weaknesses),
    )


def review_result(review: CapabilityReview, share: Share) -> ReviewResult:
    """All figures of one *share* of *review*: two conditions are never pooled."""
    judged = tuple(as_judged(row) for row in current_judgements(review, share))
    twice = both_judged(judged)
    pairs = reviewer_pairs(judged, [one.value for one in Dimension])
    return ReviewResult(
        judged=judged,
        tasks=tuple(_tasks(review, judged, share)),
        weaknesses=tuple(_weaknesses(judged)),
        pairs=tuple(pairs),
        twice=len(twice),
        differing=sum(bool(differing(*pair)) for pair in twice),
    )


def few_in(review: CapabilityReview, share: Share) -> set[int]:
    """Return the subjective responses that figures of *share* tell about, because they are few.

    Those are the reviewed answers to a task, and all of its responses with a final mark: how many
    of them are wrong is shown.
    """
    items = review.items.filter(share.at("response__"), question__part=Part.SUBJECTIVE)
    facts = AnswerFact.objects.filter(share.at(""), run__in=review.runs.all())
    facts = facts.filter(marker=FactMarker.TEACHERS, counts=True, points__isnull=False)
    cells = (rows.order_by().values_list("question__task", "response") for rows in (items, facts))
    return {one for pairs in cells for one in in_small_cells(pairs)}


def review_report(review: CapabilityReview) -> Report:
    """The shares as a report: one row a model, condition, task and dimension, for JSON and CSV."""
    conditions = conditions_in(review)
    params: dict[str, object] = {
        "review": str(review.public_id),
        "dataset": review.dataset.slug,
        "policy": review.policy,
        "per_task": review.per_task,
        "reviewers_each": review.reviewers_each,
        "random_seed": review.random_seed,
        "models": models_in(review),
    }
    rows = [
        ReportRow(_asked(one)._asdict() | row.key, row.figures)
        for one in conditions
        for row in share_rows(review_result(review, Share(one.public_id)))
    ]
    return Report(REPORT, params, rows)


def share_rows(result: ReviewResult) -> list[ReportRow]:
    """The shares of *result*, one row a task and dimension."""
    return [
        ReportRow({"task": task.task, "dimension": one.value}, {"share": figure})
        for task in result.tasks
        for one, figure in task.shares.items()
        if figure is not None
    ]


def _asked(condition: Condition) -> ModelCondition:
    return ModelCondition(condition.language_model.name, condition.name)


def names_of(people: Iterable[int]) -> dict[int, str]:
    """The names of *people* by key."""
    return names_apart(User.objects.filter(pk__in=list(people)))


def _tasks(
    review: CapabilityReview, judged: Sequence[Judged], share: Share
) -> Iterable[TaskFigures]:
    """A line for each task of the sample; with several, one for all of them first."""
    items = review.items.filter(share.at("response__"))
    columns = ("question__task__slug", "question__subject")
    counts = items.order_by(*columns).values_list(*columns).annotate(n=Count("pk"))
    asked: dict[str, set[Dimension]] = {}
    answers: dict[str, int] = {}
    for task, subject, number in counts:
        asked.setdefault(task, set()).update(asked_of(task, subject))
        answers[task] = answers.get(task, 0) + number
    if len(answers) > 1:
        every = set().union(*asked.values())
        yield _figures(ALL, sum(answers.values()), every, judged)
    for task, number in answers.items():
        yield _figures(task, number, asked[task], [one for one in judged if one.task == task])


def _figures(
    task: str, answers: int, asked: set[Dimension], judged: Sequence[Judged]
) -> TaskFigures:
    shares = {one: share_of_ones(judged, one.value) if one in asked else None for one in Dimension}
    return TaskFigures(task, answers, len({one.item for one in judged}), shares)


def _weaknesses(
    judged: Sequence[Judged],
) -> Iterable[tuple[Dimension, tuple[tuple[str, TimesNamed], ...]]]:
    """Under each dimension its weaknesses, also those that nobody named."""
    named, none = weaknesses_named(judged), TimesNamed(0, 0)
    for dimension, weaknesses in BY_DIMENSION.items():
        yield dimension, tuple((one.value, named.get(one, none)) for one in weaknesses)


def capability_shares(dataset: str) -> dict[ModelCondition, dict[str, Figure]]:
    """Return by model and condition the shares of the dimensions, from the newest review of each.

    That is the newest that is over: closed, or with every judgement that is due. Where none is,
    it is the newest in which somebody has judged. Over all tasks of the review; what nobody
    judged is left out.
    """
    shares: dict[ModelCondition, dict[str, Figure]] = {}
    done: set[ModelCondition] = set()
    for review in review_list().filter(dataset__slug=dataset).order_by("pk"):
        over = review.status == ReviewStatus.CLOSED or review.given == review.due
        for condition in conditions_in(review):
            asked = _asked(condition)
            whole = next(iter(review_result(review, Share(condition.public_id)).tasks), None)
            figures = {
                one.value: figure
                for one, figure in (whole.shares if whole else {}).items()
                if figure is not None and figure.value is not None
            }
            if figures and (over or asked not in done):
                shares[asked] = figures
                done |= {asked} if over else set()
    return shares
