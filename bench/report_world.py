"""A dataset of ten subjects, answered by ten models, marked by two teachers and a judge.

Rows as the services leave them, put into the tables in bulk. Points come from a
fixed random seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from uuid import UUID

from django.db import transaction

from evaluations.facts.answer_facts import rebuild_facts
from evaluations.models import (
    BlindAnswer,
    Extraction,
    FinalMark,
    Judge,
    Judgement,
    LanguageModel,
    Mark,
    MarkingRound,
    ObjectiveScore,
    Response,
    Run,
    Slot,
)
from evaluations.models.vocabulary import RoundStatus, RunPurpose, RunStatus, SlotKind
from evaluations.runs.services.conditions import of_model
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from questions.models import Dataset, Question, QuestionRevision, Task
from questions.rules.vocabulary import Language, Part, QuestionType, Subject

DATASET = "bench-exam"
MODELS = 10
REPEATS = 3
OBJECTIVE, SUBJECTIVE = 70, 30
FULL = {Part.OBJECTIVE: Decimal(6), Part.SUBJECTIVE: Decimal(12)}
TYPES = {Part.OBJECTIVE: QuestionType.SINGLE_CHOICE, Part.SUBJECTIVE: QuestionType.OPEN_ENDED}
random = Random(750)


@transaction.atomic
def make_world(responses: int) -> int:
    """Store about *responses* answers with everything that was given for them; how many."""
    dataset = Dataset.objects.create(slug=DATASET, name="Bench exam")
    share = responses / (len(Subject) * (OBJECTIVE + SUBJECTIVE) * MODELS * REPEATS)
    questions = _questions(dataset, share)
    answers = _answers(dataset, questions)
    _scored([answer for answer in answers if answer.question.part == Part.OBJECTIVE])
    subjective = [answer for answer in answers if answer.question.part == Part.SUBJECTIVE]
    _marked(dataset, subjective)
    _judged(subjective)
    rebuild_facts()
    return len(answers)


def _questions(dataset: Dataset, share: float) -> list[Question]:
    numbers = {Part.OBJECTIVE: OBJECTIVE, Part.SUBJECTIVE: SUBJECTIVE}
    questions: list[Question] = []
    for subject in Subject:
        for part, number in numbers.items():
            task = Task.objects.create(
                dataset=dataset,
                slug=f"{subject}_{part}",
                subject=subject,
                part=part,
                question_type=TYPES[part],
                language=Language.CHINESE,
            )
            questions += [
                Question(
                    task=task,
                    external_id=str(position),
                    position=position,
                    subject=subject,
                    part=part,
                    year=2010 + position % 13,
                )
                for position in range(max(2, round(number * share)))
            ]
    Question.objects.bulk_create(questions)
    QuestionRevision.objects.bulk_create(map(_revision, questions))
    current = {r.question_id: r for r in QuestionRevision.objects.all()}
    for question in questions:
        question.current = current[question.pk]
    Question.objects.bulk_update(questions, ["current"], batch_size=500)
    return questions


def _revision(question: Question) -> QuestionRevision:
    part = Part(question.part)
    return QuestionRevision(
        question=question,
        number=1,
        content_hash=str(question.pk),
        question_type=TYPES[part],
        language=Language.CHINESE,
        stem="?",
        answer_key=["A"] if part is Part.OBJECTIVE else [],
        sub_marks=[str(FULL[part])],
        full_marks=FULL[part],
    )


def _answers(dataset: Dataset, questions: list[Question]) -> list[Response]:
    answers: list[Response] = []
    for number in range(MODELS):
        run = Run.objects.create(
            purpose=RunPurpose.ANSWER,
            **of_model(LanguageModel.objects.create(name=f"model-{number}")),
            dataset=dataset,
            repeats=REPEATS,
            status=RunStatus.IMPORTED,
        )
        answers += [
            Response(
                run=run,
                question=question,
                revision=question.current,
                repeat=repeat,
                text="【答案】A",
            )
            for question in questions
            for repeat in range(1, REPEATS + 1)
        ]
    return Response.objects.bulk_create(answers, batch_size=1000)


def _scored(answers: list[Response]) -> None:
    for policy in Policy:
        read = Extraction.objects.bulk_create(
            (
                Extraction(
                    response=answer,
                    policy=policy,
                    reader_version="bench",
                    answers=["A"],
                    outcome="read",
                    method="bench",
                    confidence=1.0,
                )
                for answer in answers
            ),
            batch_size=1000,
        )
        scores = ObjectiveScore.objects.bulk_create(map(_score, read), batch_size=1000)
        field = Response.score_field(policy)
        for answer, score in zip(answers, scores, strict=True):
            setattr(answer, field, score)
        Response.objects.bulk_update(answers, [field], batch_size=500)


def _score(read: Extraction) -> ObjectiveScore:
    right = random.random() < 0.6
    full = FULL[Part.OBJECTIVE]
    return ObjectiveScore(
        response_id=read.response_id,
        extraction=read,
        policy=read.policy,
        reader_version="bench",
        points=full if right else 0,
        full=full,
        outcome="correct" if right else "wrong",
    )


def _points() -> Decimal:
    return Decimal(random.randint(0, 24)) / 2


def _marked(dataset: Dataset, answers: list[Response]) -> None:
    full = FULL[Part.SUBJECTIVE]
    held = MarkingRound.objects.create(
        name="bench", dataset=dataset, scheme="mean", random_seed=0, status=RoundStatus.CLOSED
    )
    blind = BlindAnswer.objects.bulk_create(
        (
            BlindAnswer(
                round=held,
                response=answer,
                question=answer.question,
                revision=answer.question.current,
                alias=f"R-{number}",
                full_marks=full,
                tolerance=1,
            )
            for number, answer in enumerate(answers)
        ),
        batch_size=1000,
    )
    given = [(_points(), _points()) for _ in blind]
    Mark.objects.bulk_create(_marks(blind, given), batch_size=1000)
    finals = FinalMark.objects.bulk_create(
        (
            FinalMark(answer=answer, value=sum(pair) / 2, full=full, rule="mean of two")
            for answer, pair in zip(blind, given, strict=True)
        ),
        batch_size=1000,
    )
    for final in finals:
        final.answer.final = final
    BlindAnswer.objects.bulk_update(blind, ["final"], batch_size=400)


def _marks(blind: list[BlindAnswer], given: list[tuple[Decimal, Decimal]]) -> Iterator[Mark]:
    for place, kind in enumerate((SlotKind.FIRST, SlotKind.SECOND)):
        teacher = User.objects.create(username=f"bench-teacher-{place}")
        slots = Slot.objects.bulk_create(
            (Slot(answer=answer, kind=kind, holder=teacher, marked=True) for answer in blind),
            batch_size=1000,
        )
        for slot, pair in zip(slots, given, strict=True):
            yield Mark(
                slot=slot,
                version=1,
                key=UUID(int=random.getrandbits(128)),
                teacher=teacher,
                total=pair[place],
                full=FULL[Part.SUBJECTIVE],
            )


def _judged(answers: list[Response]) -> None:
    judge = Judge.objects.create(name="bench-judge")
    Judgement.objects.bulk_create(
        (
            Judgement(
                response=answer,
                judge=judge,
                reply="【总分】6分",
                total=_points(),
                full=FULL[Part.SUBJECTIVE],
                status="scored",
            )
            for answer in answers
        ),
        batch_size=1000,
    )
