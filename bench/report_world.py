"""A dataset of ten subjects, answered by ten models, marked by two teachers and a judge.

Rows as the services leave them, put into the tables by one statement each. Points and answers
look random, and are the same in every run.
"""

from __future__ import annotations

from decimal import Decimal

from django.db import connection, transaction

from bench.bulk_rows import change_rows, insert_rows, random_below, uuid_of
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
# Times the questions below: a dataset of 3,000, about as many as GAOKAO-Bench has.
MOST_QUESTIONS = 3
OBJECTIVE, SUBJECTIVE = 70, 30
FULL = {Part.OBJECTIVE: Decimal(6), Part.SUBJECTIVE: Decimal(12)}
TYPES = {Part.OBJECTIVE: QuestionType.SINGLE_CHOICE, Part.SUBJECTIVE: QuestionType.OPEN_ENDED}


@transaction.atomic
def make_world(responses: int) -> int:
    """Store about *responses* answers with everything that was given for them; how many.

    Up to 90,000 answers the ten models answer more questions; beyond, there are more models.
    """
    dataset = Dataset.objects.create(slug=DATASET, name="Bench exam")
    asked = len(Subject) * (OBJECTIVE + SUBJECTIVE)
    share = min(responses / (asked * MODELS * REPEATS), MOST_QUESTIONS)
    questions = _questions(dataset, share)
    models = max(MODELS, round(responses / (len(questions) * REPEATS)))
    made = _answers(dataset, models)
    _scored()
    _marked(dataset)
    _judged()
    rebuild_facts()
    return made


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


def _answers(dataset: Dataset, models: int) -> int:
    """Every model answers every question in each repeat."""
    for number in range(models):
        Run.objects.create(
            purpose=RunPurpose.ANSWER,
            **of_model(LanguageModel.objects.create(name=f"model-{number}")),
            dataset=dataset,
            repeats=REPEATS,
            status=RunStatus.IMPORTED,
        )
    repeats = " UNION ALL ".join(f"SELECT {repeat} AS repeat" for repeat in range(1, REPEATS + 1))
    number = "(run.id * 100000000 + question.id * 100 + asked.repeat)"
    return insert_rows(
        Response,
        {
            "public_id": uuid_of(number),
            "run_id": "run.id",
            "question_id": "question.id",
            "revision_id": "question.current_id",
            "repeat": "asked.repeat",
            "text": "'【答案】A'",
        },
        f"""evaluations_run AS run CROSS JOIN ({repeats}) AS asked CROSS JOIN questions_question AS
        question ORDER BY run.id, question.id, asked.repeat""",
    )


def _of_part(part: Part) -> str:
    return f"""evaluations_response AS response JOIN questions_question AS question
        ON question.id = response.question_id AND question.part = '{part.value}'"""


def _scored() -> None:
    """Sixty in a hundred answers are right; the others are one of three wrong letters."""
    full = FULL[Part.OBJECTIVE]
    right = f"{random_below('response.id', 100, 7919)} < 60"
    wrong = random_below("response.id", 3, 104_729)
    letters = " ".join(f"WHEN {place} THEN '[\"{one}\"]'" for place, one in enumerate("BCD"))
    answers = f"CASE WHEN {right} THEN '[\"A\"]' ELSE CASE {wrong} {letters} END END"
    if connection.vendor == "postgresql":
        answers = f"CAST({answers} AS jsonb)"
    for policy in Policy:
        of = {"policy": f"'{policy.value}'", "response_id": "response.id"}
        of["reader_version"] = "'bench'"
        insert_rows(
            Extraction,
            of
            | {
                "answers": answers,
                "outcome": "'read'",
                "method": "'bench'",
                "confidence": "1.0",
            },
            f"{_of_part(Part.OBJECTIVE)} ORDER BY response.id",
        )
        insert_rows(
            ObjectiveScore,
            of
            | {
                "extraction_id": "reading.id",
                "points": f"CASE WHEN {right} THEN {full} ELSE 0 END",
                "full": f"{full}",
                "outcome": f"CASE WHEN {right} THEN 'correct' ELSE 'wrong' END",
            },
            f"""evaluations_extraction AS reading JOIN evaluations_response AS response
            ON response.id = reading.response_id WHERE reading.policy = '{policy.value}'""",
        )
        field = f"{Response.score_field(policy)}_id"
        change_rows(
            f"""UPDATE evaluations_response SET {field} = (SELECT score.id
            FROM evaluations_objectivescore AS score WHERE score.response_id =
            evaluations_response.id AND score.policy = '{policy.value}')"""
        )


def _total(salt: int, number: str = "answer.response_id") -> str:
    """Return the SQL of a total from 0 to 12 in steps of one half."""
    return f"({random_below(number, 25, salt)} * 0.5)"


def _marked(dataset: Dataset) -> None:
    held = MarkingRound.objects.create(
        name="bench", dataset=dataset, scheme="mean", random_seed=0, status=RoundStatus.CLOSED
    )
    full = f"{FULL[Part.SUBJECTIVE]}"
    insert_rows(
        BlindAnswer,
        {
            "public_id": uuid_of("response.id"),
            "round_id": f"{held.pk}",
            "response_id": "response.id",
            "question_id": "response.question_id",
            "revision_id": "response.revision_id",
            "alias": "'R-' || response.id",
            "full_marks": full,
            "tolerance": "1",
        },
        f"{_of_part(Part.SUBJECTIVE)} ORDER BY response.id",
    )
    salts = (15_485_863, 32_452_843)
    for place, kind in enumerate((SlotKind.FIRST, SlotKind.SECOND)):
        teacher = User.objects.create(username=f"bench-teacher-{place}")
        of_kind = {"kind": f"'{kind.value}'", "holder_id": f"{teacher.pk}", "marked": "TRUE"}
        answers = "evaluations_blindanswer AS answer"
        insert_rows(Slot, {"answer_id": "answer.id"} | of_kind, f"{answers} ORDER BY answer.id")
        insert_rows(
            Mark,
            {
                "slot_id": "slot.id",
                "version": "1",
                "key": uuid_of("slot.id"),
                "teacher_id": f"{teacher.pk}",
                "total": _total(salts[place]),
                "full": full,
            },
            f"""evaluations_slot AS slot JOIN {answers} ON answer.id = slot.answer_id
            WHERE slot.kind = '{kind.value}'""",
        )
    insert_rows(
        FinalMark,
        {
            "answer_id": "answer.id",
            "value": f"({_total(salts[0])} + {_total(salts[1])}) / 2",
            "full": full,
            "rule": "'mean of two'",
        },
        "evaluations_blindanswer AS answer ORDER BY answer.id",
    )
    change_rows(
        """UPDATE evaluations_blindanswer SET final_id = (SELECT final.id FROM
        evaluations_finalmark AS final WHERE final.answer_id = evaluations_blindanswer.id)"""
    )


def _judged() -> None:
    judge = Judge.objects.create(name="bench-judge")
    insert_rows(
        Judgement,
        {
            "response_id": "response.id",
            "judge_id": f"{judge.pk}",
            "reply": "'【总分】6分'",
            "total": _total(49_979_687, "response.id"),
            "full": f"{FULL[Part.SUBJECTIVE]}",
            "status": "'scored'",
        },
        f"{_of_part(Part.SUBJECTIVE)} ORDER BY response.id",
    )
