"""Opening and closing a round: what is frozen, how work is spread, what is refused."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from evaluations.marking.rounds.selectors.round_choice import ResponseChoice, chosen_responses
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.models import BlindAnswer, MarkingRound, Slot
from evaluations.models.vocabulary import RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.rules.vocabulary import QuestionType, Subject
from tests.evaluations.marking_world import (
    NOW,
    responses_to,
    round_over,
    small_round,
    subjective_question,
)
from tests.factories import (
    make_dataset,
    make_question,
    make_response,
    make_rubric,
    make_run,
    make_task,
)

pytestmark = pytest.mark.django_db


def test_a_round_freezes_what_is_marked(teacher: User, other_teacher: User) -> None:
    question = subjective_question()
    made = small_round([teacher, other_teacher], 3, question=question)
    make_rubric(question, (("a later rubric", "12"),))
    answers = list(made.answers.order_by("alias"))
    assert [answer.alias for answer in answers] == ["R-0001", "R-0002", "R-0003"]
    assert {answer.rubric.version for answer in answers if answer.rubric} == {1}
    assert {answer.full_marks for answer in answers} == {Decimal(12)}
    assert {answer.tolerance for answer in answers} == {Decimal(1)}  # 1.2 down to the step of 0.5
    kinds = Counter(Slot.objects.values_list("kind", flat=True))
    assert kinds == {SlotKind.FIRST: 3, SlotKind.SECOND: 3}
    assert AuditEntry.objects.get(tag="round.opened").detail["responses"] == 3


def test_the_order_of_aliases_says_nothing_of_the_run(teacher: User, other_teacher: User) -> None:
    question = subjective_question()
    responses = responses_to(question, 12, "a-model") + responses_to(question, 12, "b-model")
    made = round_over(responses, [teacher, other_teacher])
    rows = made.answers.order_by("alias").values_list("response__run__language_model__name")
    first_half = Counter(name for (name,) in rows[:12])
    assert 2 <= first_half["a-model"] <= 10


def test_work_is_spread_evenly_and_nobody_gets_two_roles(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    teachers = [teacher, other_teacher, third_teacher]
    made = small_round(teachers, 10)
    loads = Counter(Slot.objects.values_list("planned", flat=True))
    assert sorted(loads.values()) == [6, 7, 7]
    for answer in made.answers.all():
        planned = list(answer.slots.values_list("planned", flat=True))
        assert len(set(planned)) == 2


def test_a_choice_takes_active_subjective_responses_and_narrows_them() -> None:
    physics = [subjective_question() for _ in range(4)]
    history = subjective_question(subject=Subject.HISTORY)
    run = make_run()
    for question in [*physics, history]:
        make_response(question, run)
    make_response(make_question(make_task(question_type=QuestionType.SINGLE_CHOICE)), run)
    physics[0].status = "excluded"
    physics[0].save()

    def chosen(**choice: Any) -> set[int]:
        found = chosen_responses(ResponseChoice((run.pk,), **choice), 7)
        return {response.question_id for response in found}

    assert chosen() == {question.pk for question in [*physics[1:], history]}
    assert chosen(subjects=("History",)) == {history.pk}
    assert chosen(tasks=(physics[1].task_id,)) == {physics[1].pk}


def test_a_sample_takes_the_same_questions_of_every_run() -> None:
    task = make_task(question_type=QuestionType.OPEN_ENDED)
    questions = [subjective_question(task=task) for _ in range(8)]
    runs = [make_run(model="a-model"), make_run(model="b-model")]
    for question in questions:
        for run in runs:
            make_response(question, run)
    choice = ResponseChoice(tuple(run.pk for run in runs), per_task=3)
    drawn = chosen_responses(choice, 7)
    assert Counter(response.question_id for response in drawn).most_common()[0][1] == 2
    assert len({response.question_id for response in drawn}) == 3
    assert drawn == chosen_responses(choice, 7)
    assert {r.question_id for r in drawn} != {r.question_id for r in chosen_responses(choice, 11)}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"name": "  "}, "Enter a name of 1 to 100"),
        ({"scheme": Scheme.THREE_AND_LEAD}, "needs at least 3 teachers, and 2 selected"),
        ({"mark_step": Decimal(0)}, "The mark step must be 0.25, 0.5 or 1"),
        ({"mark_step": Decimal("NaN")}, "The mark step must be 0.25, 0.5 or 1"),
        ({"mark_step": Decimal("0.3")}, "The mark step must be 0.25, 0.5 or 1"),
        ({"tolerance_share": Decimal(10)}, "0 and 100 percent"),
        ({"lease_minutes": 0}, "1 minute and 24 hours"),
        ({"responses": ResponseChoice(())}, "No subjective response matches"),
    ],
)
def test_a_round_that_could_not_work_is_refused(
    settings: dict[str, Any], said: str, teacher: User, other_teacher: User
) -> None:
    responses = responses_to(subjective_question(), 1)
    with pytest.raises(BadInput, match=said):
        round_over(responses, [teacher, other_teacher], **settings)
    assert MarkingRound.objects.count() == BlindAnswer.objects.count() == 0


@pytest.mark.parametrize("twice", [True, False])
def test_only_different_markers_mark(twice: bool, teacher: User, curator: User) -> None:
    people = [teacher, teacher] if twice else [teacher, curator]
    with pytest.raises(BadInput, match="twice" if twice else "chen is not allowed to mark"):
        small_round(people)


def test_a_rubric_that_does_not_add_up_is_refused(teacher: User, other_teacher: User) -> None:
    question = subjective_question(rubric=(("one", "4"), ("two", "4")))
    with pytest.raises(BadInput, match="does not add up to the full marks of 12"):
        small_round([teacher, other_teacher], question=question)


def test_a_round_holds_one_dataset(teacher: User, other_teacher: User) -> None:
    other = make_task(make_dataset("other-exam"), question_type=QuestionType.OPEN_ENDED)
    responses = responses_to(subjective_question(), 1)
    responses += responses_to(subjective_question(task=other), 1)
    with pytest.raises(BadInput, match="one dataset"):
        round_over(responses, [teacher, other_teacher])


def test_a_round_is_closed_once(teacher: User, other_teacher: User, lead: User) -> None:
    made = small_round([teacher, other_teacher], 2)
    close_round(made, acting_user=lead, now=NOW)
    assert (made.status, made.closed_at) == (RoundStatus.CLOSED, NOW)
    with pytest.raises(Conflict, match="already closed"):
        close_round(made, acting_user=lead, now=NOW)
    assert AuditEntry.objects.get(tag="round.closed").detail == {}
    assert AuditEntry.objects.get(tag="round.finalized").detail == {"unsettled": 2}
