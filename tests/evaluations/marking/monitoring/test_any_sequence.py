"""Whatever leads and teachers do in a round, each response gets its final mark in the end.

Marks, skips, returns, new rubrics, decisions, teachers who leave and new ones in a random order;
then everybody marks what they are given, and the lead decides what waits.
"""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from evaluations.facts.invariants import check_invariants
from evaluations.marking.arbitration.selectors.arbitration import waiting_for
from evaluations.marking.arbitration.services import arbitrate
from evaluations.marking.desk.selectors.desk import own_progress
from evaluations.marking.desk.selectors.queue import slots_open_to
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.desk.services.slots import claim_next, skip
from evaluations.marking.monitoring.selectors.new_rubric import scopes_of
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.services.rounds import add_teachers, close_round
from evaluations.marking.services.finalizing import finalize_due, newest_marks
from evaluations.models import BlindAnswer, Mark, MarkingRound
from evaluations.models.vocabulary import ArbitrationReason, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    responses_to,
    round_over,
    subjective_question,
)
from tests.factories import make_rubric, make_user

pytestmark = pytest.mark.django_db
STEPS = 60 if os.environ.get("GRADEAPP_FULL") == "yes" else 36
PLANNED = (SlotKind.FIRST, SlotKind.SECOND)


@dataclass
class Room:
    """A round and what may happen in it; ``now`` goes on with each step."""

    made: MarkingRound
    question: Question
    teachers: list[User]
    lead: User
    lots: random.Random
    now: datetime = NOW
    steps: list[str] = field(default_factory=list)

    def later(self, minutes: int = 1) -> datetime:
        self.now += timedelta(minutes=minutes)
        return self.now

    def points(self, answer: BlindAnswer) -> list[Decimal]:
        """Marks that fit the rubric of *answer*: of three points, or of one after a new rubric."""
        most = ("3", "3", "6") if answer.rubric and answer.rubric.version == 1 else ("12",)
        return [Decimal(one) * self.lots.choice([0, 1]) for one in most]

    def mark(self, teacher: User | None = None) -> bool:
        teacher = teacher or self.lots.choice(self.teachers)
        slot = claim_next(teacher, round=self.made, now=self.later())
        if slot is None:
            return False
        given = {"points": self.points(slot.answer), "rubric": rubric_code(slot.answer)}
        save_mark(slot, teacher, key=uuid.uuid4(), based_on_version=0, **given, now=self.later())
        return True

    def put_aside(self) -> None:
        teacher = self.lots.choice(self.teachers)
        if slot := claim_next(teacher, round=self.made, now=self.later()):
            skip(slot, teacher, now=self.later())

    def decide(self) -> bool:
        finalize_due(self.made, now=self.later())
        answer = waiting_for(self.lead, self.made, self.now).first()
        if answer is None:
            return False
        seen = {kind: mark.pk for kind, mark in newest_marks(answer).items()}
        seen.pop(SlotKind.ARBITRATION, None)
        arbitrate(
            answer, self.lead, key=uuid.uuid4(), seen=list(seen.values()),
            points=self.points(answer), reason=ArbitrationReason.SLIP, now=self.later(),
        )  # fmt: skip
        return True

    def give_back(self) -> None:
        decided = self.lots.choice([False, True])
        choice = self.lots.choice(
            [
                ReturnChoice(since=NOW - timedelta(days=1), with_arbitrated=decided),
                ReturnChoice(
                    aliases=[self.lots.choice(answers_of(self.made)).alias],
                    with_arbitrated=decided,
                ),
            ]
        )
        return_marks(
            self.made, self.lots.choice(self.teachers), choice,
            to_others=self.lots.choice([False, True]), acting_user=self.lead, now=self.later(),
        )  # fmt: skip

    def change_rubric(self) -> None:
        make_rubric(self.question, (("all of it", "12"),))
        use_new_rubric(
            self.made, self.question, scope=self.lots.choice(scopes_of(self.made)),
            with_arbitrated=self.lots.choice([False, True]), acting_user=self.lead,
            now=self.later(),
        )  # fmt: skip

    def add(self) -> None:
        if len(self.teachers) < 6:
            one = make_user(Role.TEACHER, f"later{self.made.pool.count()}")
            add_teachers(self.made, [one], acting_user=self.lead, now=self.later())
            self.teachers.append(one)

    def replace(self) -> None:
        """Take teachers out until few are left, and add a substitute a little later."""
        stay = self.lots.choice([1, 2])
        for one in self.lots.sample(self.teachers, max(len(self.teachers) - stay, 0)):
            take_out(self.made, one, acting_user=self.lead, now=self.later())
            self.teachers.remove(one)
        for _ in range(self.lots.choice([0, 3])):
            self.mark()
        self.add()

    def asked_for_nothing(self) -> list[str]:
        """Responses that wait for the lead though marks agree, or somebody can give one."""
        finalize_due(self.made, now=self.later())
        found = []
        for answer in waiting_for(self.lead, self.made, self.now):
            marks = newest_marks(answer)
            planned = PLANNED[: Scheme(self.made.scheme).planned_marks]
            lacking = answer.slots.filter(kind__in=set(planned) - set(marks), marked=False)
            if lacking:
                able = {slot.pk for one in self.teachers
                        for slot in slots_open_to(one, self.made, now=self.now)}  # fmt: skip
                needless = able >= {slot.pk for slot in lacking}
            else:
                totals = [marks[kind].total for kind in planned]
                close = max(totals) - min(totals) <= answer.tolerance
                needless = close or self.made.scheme == Scheme.MEAN
            if needless:
                found.append(answer.alias)
        return found

    def wait(self) -> None:
        self.later(30)

    def anything(self) -> None:
        """One step; what is refused changes nothing."""
        often: dict[Callable[[], object], float] = {
            self.mark: 20, self.put_aside: 4, self.decide: 4, self.give_back: 3,
            self.change_rubric: 0.7, self.add: 0.5, self.replace: 0.7, self.wait: 2,
        }  # fmt: skip
        (step,) = self.lots.choices(list(often), list(often.values()))
        try:
            step()
            self.steps.append(step.__name__)
        except (BadInput, Conflict) as refusal:
            self.steps.append(f"{step.__name__}: {refusal}")

    def finish(self) -> None:
        """Mark and decide until there is nothing more to do."""
        marks = -1
        while marks != Mark.objects.count():
            marks = Mark.objects.count()
            finalize_due(self.made, now=self.later(31))  # as the clock does: windows have ended
            for teacher in self.teachers:
                while self.mark(teacher):
                    pass
            self.later(31)
            assert not self.asked_for_nothing(), self.steps
            while self.decide():
                pass


@pytest.mark.parametrize("seed", range(3, 7))
def test_each_response_gets_its_final_mark(seed: int, lead: User) -> None:
    lots = random.Random(seed)
    question = subjective_question()
    teachers = [make_user(Role.TEACHER, f"teacher{n}") for n in range(lots.choice([3, 4]))]
    made = round_over(
        responses_to(question, 5), teachers, scheme=list(Scheme)[seed % len(Scheme)],
        window_minutes=lots.choice([0, 15]),
    )  # fmt: skip
    room = Room(made, question, teachers, lead, lots)
    for _ in range(STEPS):
        room.anything()
        if room.steps[-1] == "replace":
            assert not room.asked_for_nothing(), room.steps
    room.finish()
    left = made.answers.filter(final=None).values_list("alias", flat=True)
    assert not left, room.steps
    assert not [held for held in check_invariants(room.now) if held.violations], room.steps
    for teacher in room.teachers:
        progress = own_progress(teacher, made)
        assert progress.marked == progress.total, (str(teacher), room.steps)
    close_round(made, acting_user=None, now=room.later())
