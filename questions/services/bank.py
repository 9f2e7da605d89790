"""Writes question records into the bank: new items and new revisions of known ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Max

from questions.importers.records import QuestionRecord
from questions.models import Dataset, Question, QuestionRevision, Task
from questions.rules.vocabulary import ItemStatus, RubricSource
from questions.selectors.export_records import question_record, whole_questions
from questions.selectors.repairs import ASKED
from questions.services.gate import check_items
from questions.services.import_checks import NewImages
from questions.services.import_order import MovedTexts, find_moved_texts
from questions.services.imported_rubrics import store_rubrics
from questions.services.part_moves import follow_part_moves
from questions.services.published_labels import store_labels_and_rates
from questions.services.revisions import (
    keep_repairs,
    make_searchable,
    present_repairs,
    repairs_lost,
)

# Name, licence and source of what is known; another dataset is called by its slug.
PUBLISHED_DATASETS = {
    "gaokao-bench": (
        "GAOKAO-Bench",
        "Apache-2.0",
        "https://github.com/OpenLMLab/GAOKAO-Bench",
    ),
    "agieval": ("AGIEval", "MIT", "https://github.com/ruixiangcui/AGIEval"),
    "agibench": ("AGIBench", "Apache-2.0", "https://www.benchcouncil.org/agibench"),
    "sample-exam": ("样卷 Sample exam", "MIT", ""),
}

_DESCRIBED = ("position", "subject", "part", "year", "paper", "imported_hash")
# What a record and its revision call by the same name.
_COMPARED = (
    *("question_type", "language", "passage", "stem", "letters", "reference_answer", "analysis"),
    *("paper_published", "extra"),
)


@dataclass(frozen=True, slots=True)
class Known:
    """An item that is in the bank already."""

    question: int
    content_hash: str
    last_number: int


@dataclass(frozen=True, slots=True)
class ChangedItem:
    """An item that its source changed, and the fields in which it did.

    ``rubric_stays`` says that the accepted rubric was written for its text or key from before;
    ``rubric_overtaken`` says that one which a person had accepted counts no more, as the file
    brings another; ``repairs_lost`` are the fields whose repair counts no more.
    """

    task: str
    external_id: str
    fields: tuple[str, ...]
    rubric_stays: bool = False
    rubric_overtaken: bool = False
    repairs_lost: tuple[str, ...] = ()


@dataclass(slots=True)
class Stored:
    """What became of some records: counts of new, same, changed and quarantined."""

    dataset: Dataset | None = None
    counts: Counter[str] = field(default_factory=Counter)
    changed: list[ChangedItem] = field(default_factory=list)
    moved_texts: list[MovedTexts] = field(default_factory=list)


@transaction.atomic
def store_records(records: Sequence[QuestionRecord], images: NewImages) -> Stored:
    """Write *records* with bulk statements, all or none.

    An unknown item is new; a known one whose content differs gets one more
    revision; one equal to what was imported last or to what counts now is left
    alone. Published labels and rates are rows of their own: an item of which only
    these differ is changed, without a revision.
    The gate looks at what is new or changed; ``quarantined`` counts those of all
    *records* that wait for a curator now.
    """
    stored = Stored()
    for (slug, task), group in _by_task(records).items():
        stored.dataset = _dataset(slug)
        images.store(stored.dataset, group)
        _store_task(_task(stored.dataset, task, group), group, stored)
        if stored.counts["new"] or stored.counts["changed"]:
            Dataset.objects.filter(slug=slug).update(uncompared=True)
    return stored


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


def _task(dataset: Dataset, slug: str, records: Sequence[QuestionRecord]) -> Task:
    """The task of *records*: of the commonest type, and of a subject where all have the same."""
    subjects = {record.subject for record in records}
    types = Counter(record.question_type for record in records)
    commonest = types.most_common(1)[0][0]
    defaults = {
        "subject": (subjects.pop() or "") if len(subjects) == 1 else "",
        "part": commonest.part,
        "question_type": commonest,
        "language": records[0].language,
    }
    return Task.objects.get_or_create(dataset=dataset, slug=slug, defaults=defaults)[0]


def _store_task(task: Task, records: Sequence[QuestionRecord], stored: Stored) -> None:
    known = _known(task)
    hashes = {record.external_id: record.content_hash() for record in records}
    new = [record for record in records if record.external_id not in known]
    old = {known[r.external_id].question: r for r in records if r.external_id in known}
    changed = {
        question: record
        for question, record in old.items()
        if known[record.external_id].content_hash != hashes[record.external_id]
    }
    for question in _as_they_are(changed, hashes):
        del changed[question]
    fields = _differences(changed)
    if texts := find_moved_texts(task, changed):
        stored.moved_texts.append(texts)
    made = Question.objects.bulk_create(_question(task, record, hashes) for record in new)
    fresh = {question.pk: record for question, record in zip(made, new, strict=True)}
    moved = _describe_again(changed, hashes)
    numbers = {pk: known[record.external_id].last_number + 1 for pk, record in changed.items()}
    repairs = present_repairs(changed)
    rubrics = _counting_rubrics(changed, fields)
    accepted = _accepted_by_people(changed)
    revisions = {one.question_id: one for one in _revise(fresh | changed, numbers, hashes)}
    brought = store_rubrics(fresh | changed)
    for question in brought & fields.keys():
        fields[question] = tuple(dict.fromkeys((*fields[question], "rubric")))
    revisions |= keep_repairs(repairs, revisions)
    for question, more in store_labels_and_rates(fresh, old, revised=revisions).items():
        fields[question] = (*fields.get(question, ()), *more)
    lost = repairs_lost(repairs, revisions)
    kept = set(Question.objects.filter(rubric__in=rubrics).values_list("pk", flat=True))
    stored.changed += [
        ChangedItem(
            *(task.slug, old[question].external_id, names),
            *(question in kept, question in brought & accepted),
            lost.get(question, ()),
        )
        for question, names in sorted(fields.items(), key=lambda pair: old[pair[0]].position)
    ]
    check_items([*fresh, *changed], revisions.values())
    follow_part_moves(moved)
    waiting = Question.objects.filter(pk__in=[*fresh, *old], status=ItemStatus.QUARANTINED)
    stored.counts += Counter(
        new=len(new),
        same=len(old) - len(fields),
        changed=len(fields),
        quarantined=waiting.count(),
    )


def _known(task: Task) -> dict[str, Known]:
    rows = (
        Question.objects.filter(task=task)
        .annotate(last_number=Max("revisions__number"))
        .values_list("external_id", "pk", "imported_hash", "last_number")
    )
    return {external_id: Known(*rest) for external_id, *rest in rows.order_by("pk")}


def _as_they_are(changed: Iterable[int], hashes: Mapping[str, str]) -> list[int]:
    """Those of *changed* whose records say what counts already, with repairs and accepted rubrics.

    An export of the bank does. Taken for the source's, it would end the repairs: they would not be
    there any more when the source itself is imported again.
    """
    questions = whole_questions(Question.objects.filter(pk__in=list(changed)))
    return [
        question.pk
        for question in questions
        if question_record(question).content_hash() == hashes[question.external_id]
    ]


def _differences(changed: Mapping[int, QuestionRecord]) -> dict[int, tuple[str, ...]]:
    """By question: the fields in which a record differs from what was imported last."""
    imported = QuestionRevision.objects.filter(question__in=list(changed), author=None)
    newest = {row.question_id: row for row in imported.order_by("number")}
    described = Question.objects.in_bulk(list(changed))
    return {
        question: tuple(_differing(record, newest[question], described[question]))
        for question, record in changed.items()
    }


def _counting_rubrics(
    changed: Mapping[int, QuestionRecord], fields: Mapping[int, tuple[str, ...]]
) -> list[int]:
    """The accepted rubrics of those whose text or key changes; not those that the file brings."""
    asked = [
        pk for pk, names in fields.items() if not {*ASKED, "reference_answer"}.isdisjoint(names)
    ]
    rows = Question.objects.filter(pk__in=asked, rubric__isnull=False)
    return [
        rubric
        for pk, rubric, source in rows.values_list("pk", "rubric", "rubric__source")
        if source != RubricSource.IMPORT or not changed[pk].rubric
    ]


def _accepted_by_people(changed: Iterable[int]) -> set[int]:
    """Those of *changed* whose rubric a person has accepted."""
    rows = Question.objects.filter(pk__in=list(changed), rubric__accepted_by__isnull=False)
    return set(rows.values_list("pk", flat=True))


def _differing(
    record: QuestionRecord, before: QuestionRevision, question: Question
) -> Iterable[str]:
    now = _revision(question.pk, record, before.number, before.content_hash)
    listed = ("options", "answer_key", "sub_marks", "images")
    found = [name for name in (*_COMPARED, *listed) if getattr(now, name) != getattr(before, name)]
    described = {"year": record.year, "paper": record.paper, "subject": record.subject or ""}
    found += [name for name, value in described.items() if getattr(question, name) != value]
    return found or ["rubric"]


def _question(task: Task, record: QuestionRecord, hashes: Mapping[str, str]) -> Question:
    question = Question(task=task, external_id=record.external_id)
    _describe(question, record, hashes)
    return question


def _describe(question: Question, record: QuestionRecord, hashes: Mapping[str, str]) -> None:
    """Copy what the item's own row repeats of its current revision."""
    question.position = record.position
    question.subject = record.subject or ""
    question.part = record.part
    question.year = record.year
    question.paper = record.paper
    question.imported_hash = hashes[record.external_id]


def _describe_again(changed: Mapping[int, QuestionRecord], hashes: Mapping[str, str]) -> list[int]:
    """Describe the questions by the records; return those that are of the other part now."""
    questions = list(Question.objects.filter(pk__in=list(changed)))
    moved = [one.pk for one in questions if one.part != changed[one.pk].part]
    for question in questions:
        _describe(question, changed[question.pk], hashes)
    Question.objects.bulk_update(questions, _DESCRIBED, batch_size=100)
    return moved


def _revise(
    records: Mapping[int, QuestionRecord], numbers: Mapping[int, int], hashes: Mapping[str, str]
) -> list[QuestionRevision]:
    """One more revision of each of *records* (by question), which becomes the current one.

    *numbers* are those of the revisions of known items; the others get their first.
    """
    if not records:
        return []
    made = QuestionRevision.objects.bulk_create(
        _revision(question, record, numbers.get(question, 1), hashes[record.external_id])
        for question, record in records.items()
    )
    make_searchable(made)
    moved = [Question(pk=revision.question_id, current=revision) for revision in made]
    Question.objects.bulk_update(moved, ["current"], batch_size=100)
    return made


def _revision(
    question: int, record: QuestionRecord, number: int, content_hash: str
) -> QuestionRevision:
    return QuestionRevision(
        question_id=question,
        number=number,
        content_hash=content_hash,
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
