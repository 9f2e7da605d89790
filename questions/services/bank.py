"""Writes question records into the bank: new items, new revisions, rubrics and images."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from django.db import transaction
from django.db.models import Max, OuterRef, Subquery

from questions.importers.jsonl_fields import contradictions
from questions.importers.records import QuestionRecord
from questions.models import (
    Dataset,
    Question,
    QuestionRevision,
    Rubric,
    ScoringPoint,
    Task,
)
from questions.rules.vocabulary import ItemStatus
from questions.services.images import store_images
from questions.services.search_text import make_searchable

# Name, licence and source of what is known; another dataset is called by its slug.
PUBLISHED_DATASETS = {
    "gaokao-bench": (
        "GAOKAO-Bench",
        "Apache-2.0",
        "https://github.com/OpenLMLab/GAOKAO-Bench",
    ),
    "sample-exam": ("样卷 Sample exam", "MIT", ""),
}

# A contradiction in the key makes every score of the item wrong.
KEY_PROBLEMS = frozenset({"key_outside_letters", "several_letters", "key_count"})


_DESCRIBED = ("position", "subject", "part", "year", "paper", "imported_hash")


@dataclass(frozen=True, slots=True)
class Known:
    """An item that is in the bank already."""

    question: int
    content_hash: str
    last_number: int


@transaction.atomic
def store_records(
    records: Sequence[QuestionRecord], images: Mapping[str, Path]
) -> tuple[Dataset | None, Counter[str]]:
    """Write *records* with bulk statements, all or none.

    An unknown item is new; a known one whose content differs gets one more
    revision; an equal one is left alone. An item whose key contradicts itself is
    quarantined. The counts are new, same, changed and quarantined.
    """
    counts: Counter[str] = Counter()
    dataset = None
    for (slug, task), group in _by_task(records).items():
        dataset = _dataset(slug)
        counts += _store_task(_task(dataset, task, group[0]), group)
        store_images(dataset, group, images)
    counts["quarantined"] = sum(map(_contradicts_itself, records))
    return dataset, counts


def _by_task(records: Sequence[QuestionRecord]) -> dict[tuple[str, str], list[QuestionRecord]]:
    groups: dict[tuple[str, str], list[QuestionRecord]] = defaultdict(list)
    for record in records:
        groups[record.dataset, record.task].append(record)
    return groups


def _dataset(slug: str) -> Dataset:
    """The dataset, locked, so that two imports of one file cannot both add an item."""
    name, licence, url = PUBLISHED_DATASETS.get(slug, (slug, "", ""))
    defaults = {"name": name, "licence": licence, "source_url": url}
    Dataset.objects.get_or_create(slug=slug, defaults=defaults)
    return Dataset.objects.select_for_update().get(slug=slug)


def _task(dataset: Dataset, slug: str, first: QuestionRecord) -> Task:
    defaults = {
        "subject": first.subject or "",
        "part": first.part,
        "question_type": first.question_type,
        "language": first.language,
    }
    return Task.objects.get_or_create(dataset=dataset, slug=slug, defaults=defaults)[0]


def _store_task(task: Task, records: Sequence[QuestionRecord]) -> Counter[str]:
    known = _known(task)
    new = [record for record in records if record.external_id not in known]
    old = [record for record in records if record.external_id in known]
    changed = [r for r in old if known[r.external_id].content_hash != r.content_hash()]
    made = Question.objects.bulk_create(_question(task, record) for record in new)
    _revise({question.pk: (record, 1) for question, record in zip(made, new, strict=True)})
    _follow(changed, known)
    return Counter(new=len(new), same=len(old) - len(changed), changed=len(changed))


def _known(task: Task) -> dict[str, Known]:
    rows = (
        Question.objects.filter(task=task)
        .annotate(last_number=Max("revisions__number"))
        .values_list("external_id", "pk", "imported_hash", "last_number")
    )
    return {external_id: Known(*rest) for external_id, *rest in rows.order_by("pk")}


def _question(task: Task, record: QuestionRecord) -> Question:
    question = Question(task=task, external_id=record.external_id)
    _describe(question, record)
    return question


def _describe(question: Question, record: QuestionRecord) -> None:
    """Copy what the item's own row repeats of its current revision."""
    question.position = record.position
    question.subject = record.subject or ""
    question.part = record.part
    question.year = record.year
    question.paper = record.paper
    question.imported_hash = record.content_hash()
    if _contradicts_itself(record):
        question.status = ItemStatus.QUARANTINED


def _contradicts_itself(record: QuestionRecord) -> bool:
    return any(code in KEY_PROBLEMS for code, _ in contradictions(record))


def _follow(changed: Sequence[QuestionRecord], known: Mapping[str, Known]) -> None:
    """One more revision for each of *changed*."""
    by_id = {known[record.external_id].question: record for record in changed}
    for question in Question.objects.filter(pk__in=by_id):
        _describe(question, by_id[question.pk])
        question.save(update_fields=[*_DESCRIBED, "status"])
    _revise(
        {pk: (record, known[record.external_id].last_number + 1) for pk, record in by_id.items()}
    )


def _revise(revisions: Mapping[int, tuple[QuestionRecord, int]]) -> None:
    """Add revisions (by question: record and number), make them current, add their rubrics."""
    if not revisions:
        return
    made = QuestionRevision.objects.bulk_create(
        _revision(question, record, number) for question, (record, number) in revisions.items()
    )
    make_searchable(made)
    newest = QuestionRevision.objects.filter(question=OuterRef("pk")).order_by("-number")
    Question.objects.filter(pk__in=list(revisions)).update(
        current=Subquery(newest.values("pk")[:1])
    )
    _store_rubrics({question: record for question, (record, _) in revisions.items()})


def _revision(question: int, record: QuestionRecord, number: int) -> QuestionRevision:
    return QuestionRevision(
        question_id=question,
        number=number,
        content_hash=record.content_hash(),
        question_type=record.question_type,
        language=record.language,
        passage=record.passage,
        stem=record.stem,
        options=list(record.options),
        letters=record.letters,
        answer_key=list(record.answer_key),
        reference_answer=record.reference_answer,
        analysis=record.analysis,
        sub_marks=[str(marks) for marks in record.sub_marks],
        full_marks=record.full_marks,
        paper_published=record.paper_published,
        images=list(record.images),
        extra=record.extra,
    )


Lines = list[tuple[int, str, Decimal]]


def _store_rubrics(records: Mapping[int, QuestionRecord]) -> None:
    """A new accepted version for each item whose rubric is not the newest one already."""
    for question, record in records.items():
        if not record.rubric:
            continue
        wanted = [(point.sub, point.text, point.points) for point in record.rubric]
        newest = Rubric.objects.filter(question=question).order_by("version").last()
        if newest is None or wanted != _lines(newest):
            _store_rubric(question, newest.version + 1 if newest else 1, wanted)


def _lines(rubric: Rubric) -> Lines:
    return list(rubric.points.values_list("sub", "text", "points"))


def _store_rubric(question: int, version: int, lines: Lines) -> None:
    rubric = Rubric.objects.create(
        question_id=question, version=version, accepted=True, source="import"
    )
    ScoringPoint.objects.bulk_create(
        ScoringPoint(rubric=rubric, order=order, sub=sub, text=text, points=points)
        for order, (sub, text, points) in enumerate(lines, start=1)
    )
