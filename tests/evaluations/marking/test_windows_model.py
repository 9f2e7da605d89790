"""Windows, tolerance and arbitration against a small model of the protocol, with the clock given.

The model is MARKING.md in a few lines: a mark stands for so many minutes from its first save, or
until its teacher marks another question; then two marks become their mean or a case of the lead.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from evaluations.marking.arbitration.services import arbitrate
from evaluations.marking.desk.services.marking import finish_revising
from evaluations.marking.services.finalizing import finalize_due, newest_marks
from evaluations.models import BlindAnswer, MarkingRound
from evaluations.models.vocabulary import ArbitrationReason, SlotKind
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.common.refusals import Conflict, NotFound
from questions.rules.vocabulary import QuestionType
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    responses_to,
    round_over,
    subjective_question,
)
from tests.factories import make_task, make_user

pytestmark = pytest.mark.django_db
WINDOW = 15
PEOPLE, ANSWERS, TOTALS = st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)


@dataclass
class ModelMark:
    """What the protocol says of one mark."""

    total: int
    version: int
    until: datetime


class Protocol(RuleBasedStateMachine):
    """Two teachers mark three responses to two questions; the tolerance is 1 point."""

    people: list[User]
    lead: User
    made: MarkingRound
    answers: list[BlindAnswer]

    @initialize()
    def open(self) -> None:
        """Open the round in a transaction of this example."""
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.people = [make_user(Role.TEACHER) for _ in range(2)]
        self.lead = make_user(Role.LEAD)
        task = make_task(question_type=QuestionType.OPEN_ENDED)
        one, two = (subjective_question((), "10", task=task) for _ in range(2))
        responses = [*responses_to(one, 2), *responses_to(two, 1)]
        self.made = round_over(responses, self.people, window_minutes=WINDOW)
        self.answers = answers_of(self.made)
        self.now = NOW
        self.marks: dict[tuple[int, int], ModelMark] = {}
        self.finals: dict[int, Decimal] = {}
        self.cases: set[int] = set()

    def teardown(self) -> None:
        """Undo the example."""
        if hasattr(self, "atomic"):
            transaction.set_rollback(True)
            self.atomic.__exit__(None, None, None)

    @rule(minutes=st.sampled_from([1, 5, 14, 15]))
    def wait(self, minutes: int) -> None:
        """Time passes; nothing happens by itself."""
        self.now += timedelta(minutes=minutes)

    @rule(person=PEOPLE, answer=ANSWERS, total=TOTALS)
    def save(self, person: int, answer: int, total: int) -> None:
        """A first save or a revision: refused only by the teacher's own time, nothing else."""
        known = self.marks.get((person, answer))
        refused = known is not None and known.until <= self.now
        version = known.version if known else 0
        try:
            sent = {"based_on_version": version, "now": self.now}
            give(self.answers[answer], self.people[person], str(total), **sent)
        except Conflict:
            assert refused
            return
        assert not refused
        if known is None:
            self._end_other_blocks(person, answer)
        until = known.until if known else self.now + timedelta(minutes=WINDOW)
        self.marks[person, answer] = ModelMark(total, version + 1, until)

    @rule(person=PEOPLE)
    def done(self, person: int) -> None:
        """A teacher says that nothing is to be changed any more."""
        finish_revising(self.people[person], self.made, now=self.now)
        for (whose, _answer), mark in self.marks.items():
            if whose == person:
                mark.until = min(mark.until, self.now)

    @rule()
    def tick(self) -> None:
        """The worker's clock, or a page of the lead."""
        finalize_due(self.made, now=self.now)
        for answer in range(len(self.answers)):
            pair = [self.marks.get((person, answer)) for person in range(2)]
            due = all(mark is not None and mark.until <= self.now for mark in pair)
            if not due or answer in self.finals or answer in self.cases:
                continue
            one, two = (mark.total for mark in pair if mark)
            if abs(one - two) <= 1:
                self.finals[answer] = Decimal(one + two) / 2
            else:
                self.cases.add(answer)

    @rule(answer=ANSWERS, total=TOTALS)
    def decide(self, answer: int, total: int) -> None:
        """The lead decides a case; there is none before the windows are closed."""
        blind = BlindAnswer.objects.get(pk=self.answers[answer].pk)
        seen = [mark.pk for mark in newest_marks(blind).values()]
        given = {"key": uuid4(), "seen": seen, "total": Decimal(total)}
        try:
            reason = ArbitrationReason.SLIP
            arbitrate(blind, self.lead, **given, reason=reason, now=self.now)  # type: ignore[arg-type]
        except (Conflict, NotFound):
            assert answer not in self.cases
            return
        self.cases.discard(answer)
        self.finals.setdefault(answer, Decimal(total))

    @invariant()
    def agrees(self) -> None:
        """The final marks, the cases and the marks that count are those of the model."""
        if not hasattr(self, "answers"):
            return
        for number, one in enumerate(self.answers):
            blind = BlindAnswer.objects.select_related("final").get(pk=one.pk)
            assert (blind.final.value if blind.final else None) == self.finals.get(number)
            waits = blind.slots.filter(kind=SlotKind.ARBITRATION, marked=False).exists()
            assert waits == (number in self.cases)
            marks = newest_marks(blind)
            stored = sorted(m.total for k, m in marks.items() if k is not SlotKind.ARBITRATION)
            known = [self.marks.get((person, number)) for person in range(2)]
            assert stored == sorted(mark.total for mark in known if mark)

    def _end_other_blocks(self, person: int, answer: int) -> None:
        block = self.answers[answer].question_id
        for (whose, other), mark in self.marks.items():
            if whose == person and self.answers[other].question_id != block:
                mark.until = min(mark.until, self.now)


def test_windows_follow_the_model() -> None:
    bounded = settings(
        max_examples=8,
        stateful_step_count=20,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    run_state_machine_as_test(Protocol, settings=bounded)  # type: ignore[no-untyped-call]
