"""The bank as records and rows: what an export writes and another bank reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from django.db.models import Prefetch, QuerySet

from gradeapp.common.csv_cells import Cell
from gradeapp.common.plain_number import normalized
from questions.importers.records import (
    FewShotRecord,
    HumanRateRecord,
    LabelsRecord,
    QuestionRecord,
    TaskRecord,
)
from questions.models import (
    Dataset,
    FewShotExample,
    HumanRate,
    LabelRevision,
    Question,
    QuestionRevision,
    Task,
)
from questions.rules.rubric import RubricLines
from questions.rules.vocabulary import (
    AbilityBranch,
    Language,
    Modal,
    QuestionType,
    RateKind,
    Subject,
)
from questions.selectors.bank import human_rate
from questions.selectors.rubrics import lines_of

CHUNK = 500


def whole_questions(questions: QuerySet[Question]) -> Iterator[Question]:
    """*questions* with all that an export says of them, a few hundred in memory at a time."""
    counting = HumanRate.objects.filter(corrected_by__isnull=True).order_by("pk")
    return (
        questions.filter(current__isnull=False)
        .select_related("task__dataset", "current", "label__knowledge", "rubric")
        .prefetch_related(
            *("rubric__points", "rubric__groups"),
            Prefetch("human_rates", counting),
        )
        .iterator(chunk_size=CHUNK)
    )


def question_record(question: Question) -> QuestionRecord:
    """The current revision of *question* with its labels, rates and accepted rubric."""
    revision = question.current
    assert revision is not None  # whole_questions
    rubric = lines_of(question.rubric) if question.rubric else RubricLines()
    points = tuple(replace(point, points=normalized(point.points)) for point in rubric.points)
    return QuestionRecord(
        dataset=question.task.dataset.slug,
        task=question.task.slug,
        external_id=question.external_id,
        position=question.position,
        subject=Subject(question.subject) if question.subject else None,
        year=question.year,
        paper=question.paper,
        rubric=points,
        rubric_groups=tuple(replace(group, cap=normalized(group.cap)) for group in rubric.groups),
        labels=_labels(question.label),
        human_rates=tuple(_rate(rate) for rate in question.human_rates.all()),
        question_type=QuestionType(revision.question_type),
        language=Language(revision.language),
        passage=revision.passage,
        stem=revision.stem,
        options=tuple(revision.options),
        letters=revision.letters,
        answer_key=tuple(revision.answer_key),
        reference_answer=revision.reference_answer,
        analysis=revision.analysis,
        sub_marks=tuple(normalized(Decimal(marks)) for marks in revision.sub_marks),
        paper_published=revision.paper_published,
        images=tuple(revision.images),
        extra=revision.extra,
    )


def _labels(label: LabelRevision | None) -> LabelsRecord | None:
    """The four labels that count; None where none is set."""
    if label is None:
        return None
    found = LabelsRecord(
        ability_branch=AbilityBranch(label.ability_branch) if label.ability_branch else None,
        knowledge=label.knowledge.slug if label.knowledge else "",
        difficulty=label.difficulty,
        modal=Modal(label.modal) if label.modal else None,
    )
    return None if found == LabelsRecord() else found


def _rate(rate: HumanRate) -> HumanRateRecord:
    return HumanRateRecord(
        value=normalized(rate.value),
        source=rate.source,
        sample_size=rate.sample_size,
        weight=normalized(rate.weight),
        kind=RateKind(rate.kind),
    )


def task_records(dataset: Dataset) -> dict[str, TaskRecord]:
    """What the bank says of tasks as a whole, by slug; without those of which it says nothing."""
    counting = HumanRate.objects.filter(corrected_by__isnull=True).order_by("pk")
    tasks = Task.objects.filter(dataset=dataset).prefetch_related(
        Prefetch("human_rates", counting), "few_shot_examples"
    )
    found = {
        task.slug: TaskRecord(
            dataset=dataset.slug,
            task=task.slug,
            human_rates=tuple(_rate(rate) for rate in task.human_rates.all()),
            examples=tuple(_example(example) for example in task.few_shot_examples.all()),
        )
        for task in tasks
    }
    return {slug: one for slug, one in found.items() if one.human_rates or one.examples}


def _example(example: FewShotExample) -> FewShotRecord:
    return FewShotRecord(
        number=example.number,
        stem=example.stem,
        answer_key=tuple(example.answer_key),
        explanation=example.explanation,
        passage=example.passage,
        options=tuple(example.options),
        letters=example.letters,
    )


LABELS = ("ability_branch", "knowledge", "difficulty", "modal")
QUESTION_COLUMNS = (
    *("dataset", "task", "id", "position", "subject", "part", "type", "language"),
    *("year", "paper", "status"),
    *("ability_branch", "ability_branch_origin", "knowledge", "knowledge_origin"),
    *("difficulty", "difficulty_origin", "modal", "modal_origin"),
    *("human_rate", "key", "full_marks", "rubric_version", "revision", "stem"),
)


def question_rows(questions: QuerySet[Question]) -> Iterator[tuple[Cell, ...]]:
    """Each item of *questions*, in ``QUESTION_COLUMNS``."""
    for question in whole_questions(questions.annotate(joined_rate=human_rate())):
        revision = question.current
        assert revision is not None  # whole_questions
        rate = question.joined_rate  # type: ignore[attr-defined]
        yield (
            *(question.task.dataset.slug, question.task.slug, question.external_id),
            *(question.position, question.subject, question.part, revision.question_type),
            *(revision.language, question.year, question.paper, question.status),
            *_label_cells(question),
            None if rate is None else round(rate, 4),
            _key(revision),
            revision.full_marks.normalize(),
            question.rubric.version if question.rubric else None,
            *(revision.number, revision.stem),
        )


def _label_cells(question: Question) -> Iterator[Cell]:
    label = question.label
    for name in LABELS:
        value = getattr(label, name) if label else None
        yield value.slug if name == "knowledge" and value else value or None
        yield label.origins.get(name) if label else None


def _key(revision: QuestionRevision) -> str:
    """The key of an objective item; the sub-questions apart."""
    return " | ".join(revision.answer_key)
