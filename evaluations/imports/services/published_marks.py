"""Store teachers' marks that a benchmark released, as a closed marking round."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Sequence
from decimal import Decimal

from django.utils import timezone

from evaluations.facts.answer_facts import record_finals
from evaluations.imports.rules.answer_records import Marks
from evaluations.imports.services.published_answers import StoredAnswers, StoredRow
from evaluations.marking.rules.arbitration import Finalized, next_step
from evaluations.marking.rules.tolerance import tolerance
from evaluations.models import (
    BlindAnswer,
    FinalMark,
    FinalMarkSource,
    Mark,
    MarkingRound,
    RoundTeacher,
    Run,
    Slot,
)
from evaluations.models.vocabulary import RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.services import ensure_user
from questions.importers.records import Problem

KINDS = (SlotKind.FIRST, SlotKind.SECOND)
NAME_LENGTH = 100


def store_marks(file: str, stored: StoredAnswers) -> int:
    """Store the marks of the *stored* rows and their final marks; return the number of marks added.

    The final mark is the mean of two marks, or the only one. A row without a mark, with an
    impossible mark, or with other marks than the stored ones is reported and left out. Runs in the
    caller's transaction.
    """
    by_run: dict[Run, list[StoredRow]] = defaultdict(list)
    for row in stored.rows:
        if row.record.marks:
            by_run[row.response.run].append(row)
    added = 0
    for run, rows in by_run.items():
        marks = Mark.objects.filter(
            slot__answer__round__published=True, slot__answer__response__run=run
        )
        known: dict[int, dict[str, Decimal]] = defaultdict(dict)
        columns = ("slot__answer__response_id", "slot__kind", "total")
        for response, kind, total in marks.values_list(*columns):
            known[response][kind] = total
        new: list[StoredRow] = []
        for row in rows:
            number, stored_marks = row.record.row, known.get(row.response.pk)
            if impossible := _impossible(row, file):
                stored.problems.append(impossible)
            elif stored_marks is None:
                new.append(row)
            elif stored_marks != _given(row.record.marks):
                text = f"Row {number}: the bank has other marks of this answer; they stay."
                stored.problems.append(Problem(file, number, "different_marks", text))
        if new:
            added += _store(_published_round(run), new)
    return added


def _given(marks: Marks) -> dict[SlotKind, Decimal]:
    return {kind: mark for kind, mark in zip(KINDS, marks, strict=False) if mark is not None}


def _impossible(row: StoredRow, file: str) -> Problem | None:
    """Return why the marks of *row* are invalid; None if they are valid."""
    given = _given(row.record.marks).values()
    place = f"Row {row.record.row} ({row.record.task} {row.record.external_id})"
    if not given:
        text = f"{place}: no teacher gave a mark."
        return Problem(file, row.record.row, "unmarked", text)
    if max(given) > row.item.full_marks:
        text = f"{place}: a mark of {max(given)} is above the full {row.item.full_marks}."
        return Problem(file, row.record.row, "over_full_marks", text)
    if min(given) < 0:
        text = f"{place}: a mark of {min(given)} is below zero."
        return Problem(file, row.record.row, "below_zero", text)
    return None


def _teachers() -> list[User]:
    """Return the two teachers, named by their place in the release; nobody can log in as them."""
    return [
        ensure_user(
            _name_of_nobody(f"gaokao-bench-teacher-{number}"),
            roles=[],
            display_name=f"GAOKAO-Bench teacher {number}",
        )
        for number in range(1, len(KINDS) + 1)
    ]


def _name_of_nobody(name: str) -> str:
    """Return *name*, or where somebody has chosen it for an account one like it.

    Their roles would be taken away, and the published marks would be theirs.
    """
    person = User.objects.filter(username=name).first()
    return _name_of_nobody(f"{name}-") if person and person.has_usable_password() else name


def _published_round(run: Run) -> MarkingRound:
    existing = MarkingRound.objects.filter(published=True, answers__response__run=run).first()
    if existing is not None:
        return existing
    made = MarkingRound.objects.create(
        # What it is, pages say in the language of the reader.
        name=f"{run.dataset}: {run.language_model}"[:NAME_LENGTH],
        dataset=run.dataset,
        scheme=Scheme.MEAN,
        random_seed=0,
        published=True,
        status=RoundStatus.CLOSED,
        closed_at=timezone.now(),
    )
    RoundTeacher.objects.bulk_create(
        RoundTeacher(round=made, teacher=teacher) for teacher in _teachers()
    )
    return made


def _store(round_: MarkingRound, rows: Sequence[StoredRow]) -> int:
    """Store blind answers, marks and final marks; return the number of marks."""
    taken = round_.answers.count()
    answers = BlindAnswer.objects.bulk_create(
        BlindAnswer(
            round=round_,
            response=row.response,
            question_id=row.item.question,
            revision_id=row.response.revision_id,
            alias=f"P{number:06d}",
            full_marks=row.item.full_marks,
            tolerance=tolerance(row.item.full_marks, round_.mark_step),
        )
        for number, row in enumerate(rows, start=taken + 1)
    )
    marks = _marks(answers, rows)
    by_answer: dict[int, list[Mark]] = defaultdict(list)
    for mark in marks:
        by_answer[mark.slot.answer_id].append(mark)
    finals = FinalMark.objects.bulk_create(
        _final(answer, by_answer[answer.pk]) for answer in answers
    )
    FinalMarkSource.objects.bulk_create(
        FinalMarkSource(final=final, mark=mark, place=place)
        for answer, final in zip(answers, finals, strict=True)
        for place, mark in enumerate(by_answer[answer.pk], start=1)
    )
    for answer, final in zip(answers, finals, strict=True):
        answer.final = final
    BlindAnswer.objects.bulk_update(answers, ["final"], batch_size=200)
    record_finals(answer.response_id for answer in answers)
    return len(marks)


def _marks(answers: Sequence[BlindAnswer], rows: Sequence[StoredRow]) -> list[Mark]:
    teachers = dict(zip(KINDS, _teachers(), strict=True))
    given = [
        (answer, kind, mark)
        for answer, row in zip(answers, rows, strict=True)
        for kind, mark in _given(row.record.marks).items()
    ]
    slots = Slot.objects.bulk_create(
        Slot(answer=answer, kind=kind, holder=teachers[kind], order=order, marked=True)
        for order, (answer, kind, _) in enumerate(given)
    )
    return Mark.objects.bulk_create(
        Mark(
            slot=slot,
            version=1,
            key=uuid.uuid4(),
            teacher=teachers[kind],
            total=mark,
            full=answer.full_marks,
        )
        for slot, (answer, kind, mark) in zip(slots, given, strict=True)
    )


def _final(answer: BlindAnswer, marks: Sequence[Mark]) -> FinalMark:
    scheme = Scheme.MEAN if len(marks) > 1 else Scheme.SINGLE
    final = next_step(scheme, [mark.total for mark in marks], answer.tolerance, None)
    assert isinstance(final, Finalized)  # one mark, or the mean of two, is always final
    return FinalMark(answer=answer, value=final.value, full=answer.full_marks, rule=final.rule)
