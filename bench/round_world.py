"""A round as large as wished, with responses in every state, made by bulk statements."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path

from django.db import connection, transaction

from bench.bank_world import source
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.rounds import open_round
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    LanguageModel,
    Mark,
    MarkingRound,
    Response,
    Run,
    Slot,
)
from evaluations.models.vocabulary import AnswerRole, RunPurpose, RunStatus, SlotKind
from evaluations.runs.services.conditions import of_model
from evaluations.schemes import FinalRule, Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user, sync_roles
from questions.models import Question
from questions.rules.vocabulary import Part
from questions.services.bank import store_records
from questions.services.import_checks import NewImages

MODELS = 10
BATCH = 1000
PASSWORD = "a-password-of-the-benchmark"
FIRST, SECOND, THIRD, LEAD = (
    SlotKind.FIRST.value,
    SlotKind.SECOND.value,
    SlotKind.THIRD.value,
    SlotKind.ARBITRATION.value,
)
# Of ten responses in a row: which marks each has, which slot waits, and by which rule it is final.
COURSES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    *[((FIRST, SECOND), "", FinalRule.MEAN_OF_TWO.value)] * 4,
    ((FIRST, SECOND, THIRD), "", FinalRule.CLOSEST_1_3.value),
    ((FIRST,), "", ""),
    ((FIRST, SECOND), THIRD, ""),
    ((FIRST, SECOND, THIRD), LEAD, ""),
    *[((), "", "")] * 2,
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A round that was opened: seconds, rows, and the seconds of the same rows by bare inserts."""

    round: MarkingRound
    rows: int
    seconds: float
    bare_seconds: float


def make_people(teachers: int) -> list[User]:
    """The teachers of every round."""
    sync_roles()
    names = [f"teacher{number:02}" for number in range(1, teachers + 1)]
    return [ensure_user(name, roles=[Role.TEACHER], password=PASSWORD) for name in names]


def make_questions(count: int) -> None:
    """So many questions to be marked, of one dataset."""
    records, _name = source()
    marked = [record for record in records if record.part == Part.SUBJECTIVE]
    store_records(marked[:count], NewImages({}, Path()))


def open_round_of(size: int, teachers: list[User]) -> Opened:
    """Open a round of *size* new responses, as a lead would."""
    runs = [run.pk for run in _answered(size)]
    started = time.perf_counter()
    made = open_round(
        name=f"Round of {size}",
        responses=ResponseChoice(runs=tuple(runs)),
        teachers=teachers,
        scheme=Scheme.THREE_AND_LEAD,
        random_seed=1,
        window_minutes=0,
        acting_user=None,
    )
    seconds = time.perf_counter() - started
    answers = list(made.answers.order_by("pk"))
    slots = list(Slot.objects.filter(answer__round=made).order_by("pk"))
    return Opened(made, len(answers) + len(slots), seconds, _bare(made, answers, slots))


def _answered(size: int) -> list[Run]:
    """Runs of ten models that answered every question equally often; *size* answers in all."""
    question = Question.objects.filter(part=Part.SUBJECTIVE.value).order_by("pk")
    questions = list(question.select_related("task"))
    repeats = -(-size // (MODELS * len(questions)))
    runs = [
        Run.objects.create(
            purpose=RunPurpose.ANSWER,
            **of_model(LanguageModel.objects.get_or_create(name=f"model-{number}")[0]),
            dataset_id=questions[0].task.dataset_id,
            repeats=repeats,
            status=RunStatus.IMPORTED,
        )
        for number in range(MODELS)
    ]
    rows = (
        Response(
            run=run,
            question=question,
            revision_id=question.current_id or 0,
            repeat=repeat,
            text=f"因为蒸发带走热量，所以温度降低（{repeat}）。" * 8,
        )
        for repeat in range(1, repeats + 1)
        for run in runs
        for question in questions
    )
    Response.objects.bulk_create(islice(rows, size), batch_size=BATCH)
    return runs


def _bare(made: MarkingRound, answers: list[BlindAnswer], slots: list[Slot]) -> float:
    """Seconds of inserting copies of a round's rows, which are taken back at once."""
    by_key = {answer.pk: answer for answer in answers}
    of_slot = [by_key[slot.answer_id] for slot in slots]
    first_of = [by_key.get(answer.repeat_of_id or 0) for answer in answers]
    for row in (*answers, *slots):
        row.pk = None
    with transaction.atomic():
        copy = MarkingRound.objects.create(
            dataset=made.dataset, scheme=made.scheme, random_seed=1, status=made.status
        )
        for answer in answers:
            answer.round, answer.public_id = copy, uuid.uuid4()
        started = time.perf_counter()
        firsts = [a for a, first in zip(answers, first_of, strict=True) if first is None]
        BlindAnswer.objects.bulk_create(firsts, batch_size=BATCH)
        for answer, first in zip(answers, first_of, strict=True):
            answer.repeat_of = first
        BlindAnswer.objects.bulk_create([a for a in answers if a.repeat_of], batch_size=BATCH)
        for slot, answer in zip(slots, of_slot, strict=True):
            slot.answer = answer
        Slot.objects.bulk_create(slots, batch_size=BATCH)
        seconds = time.perf_counter() - started
        transaction.set_rollback(True)
    return seconds


@transaction.atomic
def mark_most(made: MarkingRound, teachers: list[User]) -> None:
    """Marks, third slots and final marks as a round has them when most of it is done."""
    rows = Slot.objects.filter(answer__round=made, answer__role=AnswerRole.ANSWER)
    slots = list(rows.select_related("answer").order_by("answer", "kind"))
    given, added = [], []
    people = [teacher.pk for teacher in teachers]
    for at, (_answer, own) in enumerate(groupby(slots, key=lambda slot: slot.answer_id)):
        planned = list(own)
        marks, waits, _rule = COURSES[at % len(COURSES)]
        new = [Slot(answer=planned[0].answer, kind=kind) for kind in (THIRD, LEAD)]
        new = [slot for slot in new if slot.kind in (*marks, waits)]
        taken = {slot.planned_id for slot in planned}
        for slot in (*planned, *new):
            if slot.kind in marks:
                slot.holder_id = slot.planned_id or next(p for p in people if p not in taken)
                slot.marked = True
                given.append(slot)
        added += new
    rows.filter(holder__isnull=False).update(holder=None, lease_until=None)
    Slot.objects.bulk_update(
        [slot for slot in given if slot.pk], ["holder", "marked"], batch_size=400
    )
    Slot.objects.bulk_create(added, batch_size=BATCH)
    _store_marks(given)
    _store_finals(slots)


def _store_marks(given: list[Slot]) -> None:
    Mark.objects.bulk_create(
        (
            Mark(
                slot=slot,
                version=1,
                key=uuid.uuid4(),
                teacher_id=slot.holder_id or 0,
                # The first two agree at half of full marks, the others give a quarter.
                total=slot.answer.full_marks / (2 if slot.kind in (FIRST, SECOND) else 4),
                full=slot.answer.full_marks,
                seconds=30 + at % 40,
            )
            for at, slot in enumerate(given)
        ),
        batch_size=BATCH,
    )


def _store_finals(slots: list[Slot]) -> None:
    finals = []
    for at, (_answer, own) in enumerate(groupby(slots, key=lambda slot: slot.answer_id)):
        if rule := COURSES[at % len(COURSES)][2]:
            answer = next(own).answer
            half = answer.full_marks / 2
            finals.append(FinalMark(answer=answer, value=half, full=answer.full_marks, rule=rule))
    stored = FinalMark.objects.bulk_create(finals, batch_size=BATCH)
    for final in stored:
        final.answer.final = final
    BlindAnswer.objects.bulk_update([final.answer for final in stored], ["final"], batch_size=400)


def as_after_a_while() -> None:
    """PostgreSQL's autovacuum looks at new tables within minutes; here at once."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
