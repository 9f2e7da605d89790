"""Matches published answers to the bank and keeps them as responses of an imported run."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.utils import timezone

from evaluations.imports.rules.answer_records import AnswerFile, AnswerRecord
from evaluations.imports.services.published_belonging import check_belonging
from evaluations.models import LanguageModel, Response, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.reading.rules.scoring.error_texts import is_error_text
from questions.importers.records import Problem
from questions.models import Dataset, Question


@dataclass(frozen=True, slots=True)
class BankItem:
    """What the bank knows of the question of one row."""

    question: int
    revision: int
    part: str
    full_marks: Decimal


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One row of a file with the response that holds its text."""

    record: AnswerRecord
    response: Response
    item: BankItem

    @property
    def part(self) -> str:
        """Objective or subjective."""
        return self.item.part


@dataclass(slots=True)
class StoredAnswers:
    """The rows of one file that have a response, and what was wrong with the others."""

    dataset: Dataset | None = None
    rows: list[StoredRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    added: int = 0
    fresh: set[int] = field(default_factory=set)
    unmatched: int = 0
    refused: bool = False
    tokens: Counter[str] = field(default_factory=Counter)


def store_answers(file: AnswerFile) -> StoredAnswers:
    """Keep the answers of *file*, in the caller's transaction; the bank's are never changed.

    A row whose text the bank has is matched to that response. A row with
    another text for the same question and repeat is named and left out, and so is
    one that carries the text and the key of another question. A file with many of
    these belongs to another task and is refused whole.
    """
    stored = StoredAnswers()
    groups: list[tuple[Dataset, str, Matched]] = []
    for (dataset_slug, model), records in _by_run(file.answers).items():
        # Locked, so that two imports of one file cannot both add an answer.
        dataset = Dataset.objects.select_for_update().filter(slug=dataset_slug).first()
        matched = _matched(file.name, dataset, records, stored)
        if dataset is not None and matched:
            groups.append((dataset, model, matched))
    checked = check_belonging(
        file.name, [(record, item.question) for *_, matched in groups for record, item in matched]
    )
    if checked.refused:
        return StoredAnswers(problems=list(checked.problems), refused=True)
    stored.problems += checked.problems
    for dataset, model, matched in groups:
        own = [(record, item) for record, item in matched if record.row not in checked.foreign]
        if own:
            stored.dataset = dataset
            _store_run(file.name, imported_run(dataset, model), own, stored)
    return stored


def imported_run(dataset: Dataset, model: str) -> Run:
    """The one run that holds all imported answers of *model* to *dataset*."""
    language_model = LanguageModel.objects.get_or_create(name=model)[0]
    key = hashlib.sha256(f"import:{dataset.slug}:{model}".encode()).hexdigest()
    defaults = {
        "purpose": RunPurpose.ANSWER,
        "language_model": language_model,
        "dataset": dataset,
        "status": RunStatus.IMPORTED,
        "finished_at": timezone.now(),
    }
    return Run.objects.get_or_create(idempotency_key=key, defaults=defaults)[0]


def _by_run(answers: Iterable[AnswerRecord]) -> Mapping[tuple[str, str], list[AnswerRecord]]:
    groups: dict[tuple[str, str], list[AnswerRecord]] = defaultdict(list)
    for answer in answers:
        groups[answer.dataset, answer.model].append(answer)
    return groups


Matched = list[tuple[AnswerRecord, BankItem]]


def _matched(
    file: str, dataset: Dataset | None, records: Sequence[AnswerRecord], stored: StoredAnswers
) -> Matched:
    """Each record with its item; those without one are counted and named."""
    items = _bank_items(dataset, {record.task for record in records})
    matched: Matched = []
    for record in records:
        item = items.get((record.task, record.external_id))
        if item is None:
            where = f"{record.dataset} {record.task} {record.external_id}"
            text = f"Row {record.row}: the bank has no question {where}."
            stored.problems.append(Problem(file, record.row, "unmatched", text))
            stored.unmatched += 1
        else:
            matched.append((record, item))
    return matched


def _bank_items(dataset: Dataset | None, tasks: set[str]) -> dict[tuple[str, str], BankItem]:
    rows = Question.objects.filter(
        task__dataset=dataset, task__slug__in=tasks, current__isnull=False
    ).values_list("task__slug", "external_id", "pk", "current_id", "part", "current__full_marks")
    return {
        (task, external_id): BankItem(question, revision or 0, part, full or Decimal(0))
        for task, external_id, question, revision, part, full in rows
    }


def _store_run(file: str, run: Run, matched: Matched, stored: StoredAnswers) -> None:
    known = _known_responses(run, matched)
    new = [
        Response(
            run=run,
            question_id=item.question,
            revision_id=item.revision,
            repeat=record.repeat,
            text=record.text,
            is_error_text=is_error_text(record.text),
            finish_reason=record.finish_reason,
        )
        for record, item in matched
        if (item.question, record.repeat) not in known
    ]
    made = Response.objects.bulk_create(new)
    stored.added += len(made)
    known |= {(response.question_id, response.repeat): response for response in made}
    _note_repeats(run, made)
    fresh = {response.pk for response in made}
    stored.fresh |= fresh
    for record, item in matched:
        response = known[item.question, record.repeat]
        if response.text != record.text:
            stored.problems.append(_different_text(file, record))
            continue
        if response.pk not in fresh:
            full = response.revision.full_marks
            item = replace(item, revision=response.revision_id, full_marks=full)
        stored.rows.append(StoredRow(record, response, item))
        if response.pk in fresh:
            stored.tokens["prompt_tokens"] += record.prompt_tokens or 0
            stored.tokens["completion_tokens"] += record.completion_tokens or 0


def _known_responses(run: Run, matched: Matched) -> dict[tuple[int, int], Response]:
    """What the bank has of these questions; with the full marks of the day it was stored."""
    responses = (
        Response.objects.filter(
            run=run,
            question__in=[item.question for _, item in matched],
            repeat__in={record.repeat for record, _ in matched},
        )
        .select_related("revision")
        .order_by()
    )
    return {
        (response.question_id, response.repeat): response
        for response in responses.only(
            *("run", "question", "revision", "repeat", "text", "is_error_text", "finish_reason"),
            "revision__full_marks",
        )
    }


def _note_repeats(run: Run, made: Sequence[Response]) -> None:
    most = max((response.repeat for response in made), default=0)
    if most > run.repeats:
        run.repeats = most
        run.save(update_fields=["repeats"])


def _different_text(file: str, record: AnswerRecord) -> Problem:
    text = (
        f"Row {record.row}: the bank has another text of {record.model} for {record.task}"
        f" {record.external_id}, repeat {record.repeat}; it stays, and this row does not count."
    )
    return Problem(file, record.row, "different_text", text)
