"""Small marking rounds for tests: one line opens one, one line marks."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.desk.services.slots import claim_next
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice
from evaluations.marking.rounds.services.rounds import open_round
from evaluations.marking.services.finalizing import finalize_due
from evaluations.marking.services.reopening import reopen_slots
from evaluations.models import BlindAnswer, Mark, MarkingRound, Response, Run, Slot
from evaluations.models.vocabulary import SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from questions.models import Question
from questions.rules.vocabulary import QuestionType, Subject
from tests.factories import make_question, make_response, make_run, make_task

NOW = datetime(2026, 9, 1, 10, 0, tzinfo=UTC)
RUBRIC = (("names the law", "3"), ("sets up the equation", "3"), ("solves it", "6"))


def later(minutes: float) -> datetime:
    """So many minutes after NOW."""
    return NOW + timedelta(minutes=minutes)


balls = itertools.count(1)


def subjective_question(
    rubric: tuple[tuple[str, str], ...] = RUBRIC, full: str = "12", **fields: Any
) -> Question:
    """An open-ended item of 12 points with three scoring points, unless told otherwise.

    Its text is that of no other.
    """
    task = fields.pop("task", None) or make_task(
        subject=fields.pop("subject", Subject.PHYSICS), question_type=QuestionType.OPEN_ENDED
    )
    default = f"Ball {next(balls)} falls from $h$ metres.\n\n(1) How long does it fall?"
    stem = fields.pop("stem", default)
    return make_question(task, marks=(full,), rubric=rubric, stem=stem, **fields)


def responses_to(question: Question, number: int, model: str = "canary-gpt-7f3a") -> list[Response]:
    """One run of *model* for each response to *question*."""
    dataset = question.task.dataset
    return [
        make_response(question, make_run(dataset, model), f"$t = {n}$ seconds, therefore.")
        for n in range(1, number + 1)
    ]


def round_over(
    chosen: Sequence[Response], teachers: Sequence[User], /, **settings: Any
) -> MarkingRound:
    """An open round over the runs of the *chosen* responses."""
    settings = {
        "name": "Round 4",
        "scheme": Scheme.TWO_AND_LEAD,
        "random_seed": 7,
        "repeat_share": Decimal(0),
        "window_minutes": 0,
        "acting_user": None,
        "responses": ResponseChoice(tuple(response.run_id for response in chosen)),
    } | settings
    return open_round(teachers=teachers, **settings)


def small_round(teachers: Sequence[User], responses: int = 1, **settings: Any) -> MarkingRound:
    """A round over some responses to one question of 12 points; its tolerance is 1 point."""
    question = settings.pop("question", None) or subjective_question()
    return round_over(responses_to(question, responses), teachers, **settings)


def answers_of(marking_round: MarkingRound) -> list[BlindAnswer]:
    return list(marking_round.answers.order_by("alias"))


def slot_of(answer: BlindAnswer, kind: SlotKind) -> Slot:
    return answer.slots.get(kind=kind)


def held_slot(answer: BlindAnswer, teacher: User) -> Slot:
    """The slot that *teacher* is planned for on *answer*, held by them."""
    answer.slots.filter(planned=teacher, holder=None).update(holder=teacher, lease_until=later(30))
    return answer.slots.get(holder=teacher)


def give(answer: BlindAnswer, teacher: User, points: Sequence[str] | str, **fields: Any) -> Mark:
    """The mark of *teacher* on *answer*: points per scoring point, or one total as text."""
    given: dict[str, Any] = {"key": uuid.uuid4(), "based_on_version": 0, "now": later(1)}
    if isinstance(points, str):
        given["total"] = Decimal(points)
    else:
        given["points"] = tuple(Decimal(value) for value in points)
    given = {"rubric": rubric_code(BlindAnswer.objects.get(pk=answer.pk))} | given | fields
    mark = save_mark(held_slot(answer, teacher), teacher, **given).mark
    if not answer.round.window_minutes:
        finalize_due(answer.round, now=given["now"])  # as the clock does
    return mark


def marked_again(answer: BlindAnswer, teacher: User, points: Sequence[str]) -> Mark:
    """The mark that *teacher* gives after the lead returned theirs."""
    slot = answer.slots.get(holder=teacher)
    with transaction.atomic():
        reopen_slots([slot], {slot.pk: teacher.pk}, now=later(3))
    return give(answer, teacher, points, now=later(3))


def planned_pair(answer: BlindAnswer) -> tuple[User, User]:
    """The teachers planned for the first and the second mark."""
    kinds = (SlotKind.FIRST, SlotKind.SECOND)
    first, second = (slot_of(answer, kind).planned for kind in kinds)
    assert first
    assert second
    return first, second


def claimed(teacher: User, marking_round: MarkingRound, now: datetime = NOW) -> Slot:
    """What *teacher* gets next; the test fails where that is nothing."""
    slot = claim_next(teacher, round=marking_round, now=now)
    assert slot is not None
    return slot


def runs_of(marking_round: MarkingRound) -> tuple[int, ...]:
    """Keys of the runs whose responses are marked."""
    runs = Run.objects.filter(responses__blind_answers__round=marking_round)
    return tuple(runs.distinct().values_list("pk", flat=True))
