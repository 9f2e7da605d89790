"""A marking round to measure the desk on, and the questions asked of it afterwards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.rounds import open_round
from evaluations.marking.services.finalizing import finalize_all_due
from evaluations.models import FinalMark, LanguageModel, Mark, Response, Run, Slot
from evaluations.models.vocabulary import RunPurpose, RunStatus, SlotKind
from evaluations.runs.services.conditions import of_model
from evaluations.schemes import Scheme
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user, sync_roles
from questions.models import Dataset, Question
from questions.rules.vocabulary import Part
from questions.services.imports import import_questions

SAMPLE = settings.BASE_DIR / "questions" / "sample"
PASSWORD = "a-password-of-the-benchmark"


@dataclass(frozen=True, slots=True)
class World:
    """Where the teachers go, and who they are."""

    round: UUID
    teachers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Saved:
    """A save that the server confirmed."""

    teacher: str
    answer: str
    key: str


def make_world(teachers: int, answers_a_question: int) -> World:
    """The sample exam, so many answers to each marked question, one round, so many teachers."""
    sync_roles()
    names = [f"teacher{number}" for number in range(1, teachers + 1)]
    people = [ensure_user(name, roles=[Role.TEACHER], password=PASSWORD) for name in names]
    import_questions("jsonl", SAMPLE / "gradeapp-sample")
    run = _answered(answers_a_question)
    made = open_round(
        name="Desk",
        responses=ResponseChoice(runs=(run.pk,)),
        teachers=people,
        scheme=Scheme.MEAN,
        random_seed=1,
        window_minutes=0,
        acting_user=None,
    )
    return World(made.public_id, tuple(names))


def _answered(repeats: int) -> Run:
    """A run whose answers are those of the sample's students, over and over."""
    run = Run.objects.create(
        purpose=RunPurpose.ANSWER,
        **of_model(LanguageModel.objects.create(name="benchmark")),
        dataset=Dataset.objects.get(),
        repeats=repeats,
        status=RunStatus.IMPORTED,
    )
    lines = (SAMPLE / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    texts = cycle([json.loads(line)["text"] for line in lines])
    Response.objects.bulk_create(
        Response(
            run=run,
            question=question,
            revision_id=question.current_id,
            repeat=repeat,
            text=next(texts),
        )
        for question in Question.objects.filter(part=Part.SUBJECTIVE.value)
        for repeat in range(1, repeats + 1)
    )
    return run


def own_share_left(teacher: str) -> bool:
    """Whether a response planned for *teacher* has no mark yet; checks come in between."""
    planned = Slot.objects.filter(planned__username=teacher, marked=False)
    return planned.exclude(kind=SlotKind.REPEAT).exists()


def what_went_wrong(saved: Iterable[Saved], shown: Iterable[tuple[str, str]]) -> list[str]:
    """Sentences about lost saves and about responses handed out twice; empty when all is well.

    *saved* are the confirmed saves, *shown* each (response, teacher) handed out.
    """
    return [*_lost(list(saved)), *_handed_out_twice(list(shown))]


def _lost(saved: list[Saved]) -> Iterable[str]:
    marks = Mark.objects.filter(stale=False).select_related("slot__answer", "teacher")
    stored = {
        (mark.teacher.username, str(mark.slot.answer.public_id), str(mark.key)) for mark in marks
    }
    confirmed = {(one.teacher, one.answer, one.key) for one in saved}
    if len(confirmed) != len(saved):
        yield f"{len(saved) - len(confirmed)} saves were confirmed twice."
    if stored != confirmed:
        lost, extra = len(confirmed - stored), len(stored - confirmed)
        yield f"{lost} confirmed saves are not stored, {extra} stored marks were never confirmed."
    both = [answer for answer, n in Counter(one.answer for one in saved).items() if n == 2]
    finalize_all_due(timezone.now())
    finals = FinalMark.objects.count()
    if finals != len(both):
        yield f"{len(both)} responses have both marks and {finals} a final mark."


def _handed_out_twice(shown: list[tuple[str, str]]) -> Iterable[str]:
    again = [pair for pair, n in Counter(shown).items() if n > 1]
    if again:
        yield f"{len(again)} responses came to the same teacher again."
    too_often = [a for a, n in Counter(answer for answer, _ in shown).items() if n > 2]
    if too_often:
        yield f"{len(too_often)} responses came to more than two teachers."
    planned = Slot.objects.count()
    if len(set(shown)) > planned:
        yield f"{len(set(shown))} responses were handed out for {planned} marks."
