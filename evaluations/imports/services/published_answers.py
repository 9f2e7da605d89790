"""Match published answers to the questions of the bank, and store them as an imported run."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from django.utils import timezone

from evaluations.facts.answer_facts import record_responses
from evaluations.imports.rules.answer_records import AnswerFile, AnswerRecord
from evaluations.imports.rules.belonging import Known, is_foreign, key_text, known_texts, too_many
from evaluations.models import LanguageModel, Response, Run
from evaluations.models.vocabulary import RunPurpose, RunStatus
from evaluations.reading.rules.scoring.error_texts import is_error_text
from evaluations.runs.services.conditions import imported_condition
from questions.importers.records import Problem
from questions.models import Dataset, Question, QuestionRevision


@dataclass(frozen=True, slots=True)
class BankItem:
    """The question of one row, from the bank."""

    question: int
    revision: int
    part: str
    full_marks: Decimal


Matched = list[tuple[AnswerRecord, BankItem]]


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One row of a file with its response."""

    record: AnswerRecord
    response: Response
    item: BankItem

    @property
    def part(self) -> str:
        """Objective or subjective."""
        return self.item.part


@dataclass(slots=True)
class StoredAnswers:
    """The rows of one file that have a response, and the problems of the others."""

    dataset: Dataset | None = None
    rows: list[StoredRow] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    added: int = 0
    fresh: set[int] = field(default_factory=set)
    unmatched: int = 0
    refused: bool = False
    tokens: Counter[str] = field(default_factory=Counter)


def store_answers(file: AnswerFile) -> StoredAnswers:
    """Store the answers of *file*, in the caller's transaction; stored answers never change.

    A row with the same text as a stored response is matched to it. A row with another text for the
    same question and repeat is reported and left out, and so is a row with the text and the key of
    another question. A file with many of these belongs to another task and is refused.
    """
    stored = StoredAnswers()
    by_run: dict[tuple[str, str, str, str], list[AnswerRecord]] = defaultdict(list)
    for answer in file.answers:
        by_run[answer.dataset, answer.model, answer.setting, answer.condition].append(answer)
    groups: list[tuple[Dataset, tuple[str, str, str], Matched]] = []
    for (slug, *asked), records in by_run.items():
        # Locked, so that two imports of one file cannot both add an answer.
        dataset = Dataset.objects.select_for_update().filter(slug=slug).first()
        matched = _matched(file.name, dataset, records, stored)
        if dataset is not None and matched:
            groups.append((dataset, (asked[0], asked[1], asked[2]), matched))
    compared = [
        (r, item.question) for *_, matched in groups for r, item in matched if r.question.strip()
    ]
    foreign = _foreign(compared)
    if too_many(len(foreign), len(compared)):
        place = ", ".join(sorted({record.task for record in foreign}))
        text = (
            f"{len(foreign)} of {len(compared)} rows hold other questions than the bank has for"
            f" {place}: the answers are stored under a wrong name, and the file is refused."
        )
        problem = Problem(file.name, None, "other_task", text, fatal=True)
        return StoredAnswers(problems=[problem], refused=True)
    for record in foreign:
        text = (
            f"Row {record.row}: its question and its key are not those of {record.task}"
            f" {record.external_id}; it does not count."
        )
        stored.problems.append(Problem(file.name, record.row, "other_question", text))
    left_out = {record.row for record in foreign}
    for dataset, known, matched in groups:
        own = [(record, item) for record, item in matched if record.row not in left_out]
        if own:
            stored.dataset = dataset
            _store_run(file.name, imported_run(dataset, *known), own, stored)
    return stored


def imported_run(dataset: Dataset, model: str, setting: str = "", condition: str = "") -> Run:
    """Return the run of all imported answers of *model* to *dataset* under one condition."""
    language_model = LanguageModel.objects.get_or_create(name=model)[0]
    key = _run_key(dataset.slug, model, setting, condition)
    defaults = {
        "purpose": RunPurpose.ANSWER,
        "language_model": language_model,
        "condition": imported_condition(language_model, setting, condition),
        "dataset": dataset,
        "status": RunStatus.IMPORTED,
        "finished_at": timezone.now(),
    }
    return Run.objects.get_or_create(idempotency_key=key, defaults=defaults)[0]


def runs_named_in(file: AnswerFile) -> set[int]:
    """Return the runs of imports that the rows of *file* would be in, of those that there are.

    Also those from which no row is stored: that another answer is there tells what a text is not.
    """
    keys = {_run_key(one.dataset, one.model, one.setting, one.condition) for one in file.answers}
    return set(Run.objects.filter(idempotency_key__in=keys).values_list("pk", flat=True))


def _run_key(dataset: str, model: str, setting: str, condition: str) -> str:
    asked = f":{setting}:{condition}" if setting or condition else ""
    return hashlib.sha256(f"import:{dataset}:{model}{asked}".encode()).hexdigest()


def _matched(
    file: str, dataset: Dataset | None, records: Sequence[AnswerRecord], stored: StoredAnswers
) -> Matched:
    """Return each record with its item; count and report those without one."""
    questions = Question.objects.filter(
        task__dataset=dataset,
        task__slug__in={record.task for record in records},
        current__isnull=False,
    ).values_list("task__slug", "external_id", "pk", "current_id", "part", "current__full_marks")
    items = {
        (task, external_id): BankItem(question, revision or 0, part, full or Decimal(0))
        for task, external_id, question, revision, part, full in questions
    }
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


def _foreign(compared: Collection[tuple[AnswerRecord, int]]) -> list[AnswerRecord]:
    """Return the records whose text and key belong to another question than the one they name.

    They are compared with all revisions of the question, with and without its passage.
    """
    texts: dict[int, set[str]] = defaultdict(set)
    keys: dict[int, set[str]] = defaultdict(set)
    revisions = QuestionRevision.objects.filter(question__in={question for _, question in compared})
    for revision in revisions:
        asked = (revision.stem, revision.passage + revision.stem, revision.asked)
        texts[revision.question_id].update(asked)
        given = (revision.answer_key, revision.published_key or [], revision.reference_answer)
        keys[revision.question_id].update(key_text(key) for key in given)
    known: dict[int, Known] = {one: known_texts(texts[one], keys[one]) for one in texts}
    return [
        record
        for record, question in compared
        if is_foreign(record.question, record.key, known[question])
    ]


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
    record_responses(response.pk for response in made)
    known |= {(response.question_id, response.repeat): response for response in made}
    most = max((response.repeat for response in made), default=0)
    if most > run.repeats:
        run.repeats = most
        run.save(update_fields=["repeats"])
    fresh = {response.pk for response in made}
    stored.added += len(made)
    stored.fresh |= fresh
    for record, item in matched:
        response = known[item.question, record.repeat]
        if response.text != record.text:
            text = (
                f"Row {record.row}: the bank has another text of {record.model} for {record.task}"
                f" {record.external_id}, repeat {record.repeat}; it stays, and this row does not"
                " count."
            )
            stored.problems.append(Problem(file, record.row, "different_text", text))
            continue
        if response.pk in fresh:
            stored.tokens["prompt_tokens"] += record.prompt_tokens or 0
            stored.tokens["completion_tokens"] += record.completion_tokens or 0
        else:
            full = response.revision.full_marks
            item = replace(item, revision=response.revision_id, full_marks=full)
        stored.rows.append(StoredRow(record, response, item))


def _known_responses(run: Run, matched: Matched) -> dict[tuple[int, int], Response]:
    """Return the stored responses to the matched questions, with the revision that was answered."""
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
