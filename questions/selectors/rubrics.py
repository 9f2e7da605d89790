"""Reading rubrics: as values, version by version, and over the whole bank."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from gradeapp.common.remembered import remembered
from questions.models import Question, QuestionRevision, Rubric
from questions.models import ScoringPoint as PointRow
from questions.rules.rubric import (
    Finding,
    PointGroup,
    RubricLines,
    ScoringPoint,
    findings,
    step_for,
)
from questions.rules.rubric_files import RubricFor
from questions.rules.vocabulary import Part, RubricSource

LINES = ("groups", "points")


@dataclass(frozen=True, slots=True)
class DatasetRubrics:
    """How far the rubrics of one dataset are, counted in marked items.

    ``drafts`` are those whose newest version waits for a person, also where an
    earlier one counts; ``without`` have no version at all.
    """

    slug: str
    name: str
    items: int
    accepted: int
    drafts: int
    without: int


def lines_of(rubric: Rubric) -> RubricLines:
    """A stored rubric as values; ``points`` and ``groups`` may have been prefetched.

    Groups are looked up only where a point is in one: most rubrics have none.
    """
    lines = list(rubric.points.all())
    grouped = any(point.group_id for point in lines)
    groups = list(rubric.groups.all()) if grouped else []
    places = {group.pk: place for place, group in enumerate(groups, start=1)}
    points = [
        ScoringPoint(p.text, p.points, p.sub, places[p.group_id] if p.group_id else None)
        for p in lines
    ]
    made = [PointGroup(group.cap, group.text, group.sub, group.choose) for group in groups]
    return RubricLines(tuple(points), tuple(made))


@dataclass(frozen=True, slots=True)
class FrozenRubric:
    """A version of a rubric that marking rests on: as values, and the rows of its points."""

    lines: RubricLines
    points: tuple[PointRow, ...]


def frozen(rubric: Rubric) -> FrozenRubric:
    """A stored rubric that is marked by. A version never changes, so each reads it once."""
    return _frozen(rubric.pk, rubric.created_at)


@remembered(maxsize=4000)
def _frozen(key: int, created_at: datetime) -> FrozenRubric:
    """By key and time, so that no other row ever passes for this one."""
    stored = Rubric.objects.prefetch_related(*LINES).get(pk=key, created_at=created_at)
    return FrozenRubric(lines_of(stored), tuple(stored.points.all()))


def source_name(rubric: Rubric) -> str:
    """Return where a version comes from, as the API and the audit trail name it."""
    if rubric.source == RubricSource.MODEL:
        return f"{rubric.source}:{rubric.model_name}"
    return rubric.source


def what_is_wrong(revision: QuestionRevision, rubric: RubricLines) -> list[Finding]:
    """The faults of *rubric* for an item as *revision* asks it."""
    marks = revision.decimal_sub_marks
    return findings(rubric, marks, step_for(marks), revision.images)


def marked_questions() -> QuerySet[Question]:
    """Items that people mark: they alone have rubrics."""
    return Question.objects.filter(part=Part.SUBJECTIVE.value).select_related(
        "task__dataset", "current"
    )


def marked_question(public_id: UUID) -> Question | None:
    """One of them, with what is asked."""
    return marked_questions().filter(public_id=public_id, current__isnull=False).first()


def rubric_versions(question: Question) -> list[Rubric]:
    """Every version of an item's rubric, newest first."""
    rows = question.rubrics.select_related("created_by", "accepted_by").order_by("-version")
    return list(rows.prefetch_related(*LINES))


@dataclass(frozen=True, slots=True)
class RubricColumn:
    """One of the versions that stand side by side.

    *only_here* are the places (from 1) of the points that the other version does
    not say in the same way; *wrong* is what keeps it from being accepted; *earlier*
    says that the question has got another revision since the version was written.
    """

    rubric: Rubric
    lines: RubricLines
    only_here: frozenset[int]
    wrong: tuple[Finding, ...]
    earlier: bool


def rubric_columns(question: Question, rubrics: Sequence[Rubric]) -> list[RubricColumn]:
    """Versions of one item beside each other, each with what sets it apart from the rest."""
    lines = [lines_of(rubric) for rubric in rubrics]
    said = [set(_wordings(one)) for one in lines]
    columns = []
    for place, (rubric, own) in enumerate(zip(rubrics, lines, strict=True)):
        others = [other for number, other in enumerate(said) if number != place]
        apart = frozenset(
            number
            for number, wording in enumerate(_wordings(own), start=1)
            if any(wording not in other for other in others)
        )
        wrong = what_is_wrong(question.current, own) if question.current else []
        earlier = question.current is not None and rubric.created_at < question.current.created_at
        columns.append(RubricColumn(rubric, own, apart, tuple(wrong), earlier))
    return columns


def _wordings(lines: RubricLines) -> list[tuple[object, ...]]:
    """What each point says, its group spelt out: places of groups differ between versions."""
    return [
        (p.text, p.points, p.sub, lines.groups[p.group - 1] if p.group else None)
        for p in lines.points
    ]


def counting_versions(questions: Iterable[int]) -> dict[int, Rubric]:
    """Return the accepted version that counts, by question."""
    rows = Rubric.objects.filter(counts_for__in=list(questions))
    return {rubric.question_id: rubric for rubric in rows.prefetch_related(*LINES)}


def newest_versions(questions: Iterable[int], *, source: str = "") -> dict[int, Rubric]:
    """The newest version of each question that has one (of *source*)."""
    rows = Rubric.objects.filter(question__in=list(questions)).order_by("version")
    if source:
        rows = rows.filter(source=source)
    return {rubric.question_id: rubric for rubric in rows.prefetch_related(*LINES)}


def accepted_rubrics(dataset: str = "") -> Iterator[RubricFor]:
    """What counts, item by item in the order of the bank, as a file holds it."""
    rows = Rubric.objects.filter(counts_for__isnull=False)
    if dataset:
        rows = rows.filter(question__task__dataset__slug=dataset)
    rows = rows.select_related("question__task__dataset").prefetch_related(*LINES)
    for rubric in rows.order_by(
        "question__task__dataset__slug", "question__task__slug", "question__position"
    ):
        yield rubric_for(rubric.question, rubric)


def rubric_for(question: Question, rubric: Rubric) -> RubricFor:
    """One rubric with the names of its item."""
    task = question.task
    return RubricFor(task.dataset.slug, task.slug, question.external_id, lines_of(rubric))


def waiting_drafts() -> QuerySet[Rubric]:
    """Newest versions that nobody has accepted, newest first."""
    newer = Rubric.objects.filter(question=OuterRef("question"), version__gt=OuterRef("version"))
    rows = Rubric.objects.filter(~Exists(newer), accepted=False)
    return rows.select_related("question__task__dataset", "created_by").order_by("-pk")


def dataset_rubrics() -> list[DatasetRubrics]:
    """Every dataset that has marked items, by slug."""
    own = Rubric.objects.filter(question=OuterRef("pk"))
    newest = own.order_by("-version").values("accepted")[:1]
    rows = (
        Question.objects.filter(part=Part.SUBJECTIVE.value)
        .annotate(newest=Subquery(newest))
        .values(slug=F("task__dataset__slug"), name=F("task__dataset__name"))
        .annotate(
            items=Count("pk"),
            accepted=Count("rubric"),
            drafts=Count("pk", filter=Q(newest=False)),
            without=Count("pk", filter=Q(newest=None)),
        )
        .order_by("slug")
    )
    return [DatasetRubrics(**row) for row in rows]


def without_rubric(dataset: str) -> QuerySet[Question]:
    """Marked items of *dataset* that have no version at all, with what is asked."""
    has_one = Rubric.objects.filter(question=OuterRef("pk"))
    return (
        marked_questions()
        .filter(~Exists(has_one), task__dataset__slug=dataset, current__isnull=False)
        .order_by("task__slug", "position")
    )
