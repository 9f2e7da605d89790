"""Opening a capability review: what is wrong, what is drawn, what is left out, who judges."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evaluations.capability.selectors.capability_review import capability_shares
from evaluations.capability.selectors.capability_sample import sample
from evaluations.capability.services.capability_review import close_review
from evaluations.models import ReviewSlot
from evaluations.reading.services.scoring import score_responses
from evaluations.statistics.policies import Policy
from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question
from questions.rules.vocabulary import ItemStatus, QuestionType, Subject
from tests.evaluations.marking_world import responses_to, round_over, subjective_question
from tests.evaluations.report_world import chosen, mark, run_of, written
from tests.evaluations.review_world import NOW, items_of, review_of, say, wrong_answers
from tests.factories import make_question, make_response, make_run, make_task

pytestmark = pytest.mark.django_db


def test_fewer_than_full_points_is_wrong_and_so_is_no_answer() -> None:
    run = run_of("canary-m")
    right, wrong, silent = chosen(run, "A", "C", "-")
    task = make_task(
        run.dataset, question_type=QuestionType.MULTIPLE_CHOICE, subject=Subject.PHYSICS
    )
    half = make_response(make_question(task, key=("AC",)), run, "【答案】A <eoa>")
    score_responses([half])
    drawn = sample([run], Policy.STRICT, 100, 7)
    assert set(drawn.responses) == {wrong.pk, silent.pk, half.pk}
    assert right.pk not in drawn.responses
    by_task = {one.task: (one.wrong, one.unread, one.drawn_unread) for one in drawn.tasks}
    assert by_task == {right.question.task.slug: (2, 1, 1), task.slug: (1, 0, 0)}


def test_teachers_marks_below_full_are_wrong_too(teacher: User) -> None:
    run = run_of("canary-m")
    full, fewer = written(run), written(run)
    mark(full, "10", "10")
    mark(fewer, "7", "7.5")
    written(run)  # nobody has marked it
    assert sample([run], Policy.STRICT, 100, 7).responses == (fewer.pk,)
    (item,) = items_of(review_of(run, [teacher]))
    assert (item.points, item.full, item.read) == (Decimal("7.25"), Decimal(10), [])


def test_what_reports_leave_out_is_left_out_and_counted() -> None:
    run = run_of("canary-m")
    under_review, excluded, wrong = chosen(run, "B", "C", "D")
    for response, state in (
        (under_review, ItemStatus.QUARANTINED),
        (excluded, ItemStatus.EXCLUDED),
    ):
        Question.objects.filter(pk=response.question_id).update(status=state)
    make_response(make_question(wrong.question.task), run)  # not scored
    drawn = sample([run], Policy.STRICT, 100, 7)
    assert drawn.responses == (wrong.pk,)
    assert (drawn.under_review, drawn.unscored, drawn.being_marked) == (2, 1, 0)


def test_a_response_that_teachers_mark_now_is_not_told_to_be_wrong(
    teacher: User, other_teacher: User
) -> None:
    question = subjective_question(full="10", rubric=())
    (response,) = responses_to(question, 1)
    mark(response, "4", "6")
    assert sample([response.run], Policy.STRICT, 100, 7).responses == (response.pk,)
    round_over([response], [teacher, other_teacher])
    drawn = sample([response.run], Policy.STRICT, 100, 7)
    assert (drawn.responses, drawn.being_marked) == ((), 1)


def test_so_many_of_each_task_from_the_random_seed_and_only_of_the_chosen_runs() -> None:
    run, other = wrong_answers(6), wrong_answers(6, "canary-other")
    drawn = sample([run], Policy.STRICT, 4, 7)
    assert len(drawn.responses) == 4
    assert drawn == sample([run], Policy.STRICT, 4, 7)
    seeds = {sample([run], Policy.STRICT, 4, seed).responses for seed in range(5)}
    assert len(seeds) > 1
    assert set(drawn.responses) < set(sample([run], Policy.STRICT, 5, 7).responses)
    assert set(run.responses.values_list("pk", flat=True)) > set(drawn.responses)
    both = sample([run, other], Policy.STRICT, 4, 7)
    assert [len(task.drawn) for task in both.tasks] == [4, 4]


def test_a_review_freezes_what_was_read_and_what_it_got(teacher: User, lead: User) -> None:
    review = review_of(wrong_answers(1), [teacher], acting_user=lead)
    (item,) = items_of(review)
    assert (item.read, item.points, item.full) == (["B"], 0, 6)
    assert item.revision == item.response.revision
    entry = AuditEntry.objects.get(tag=Tag.REVIEW_OPENED)
    assert (entry.actor, entry.detail) == (lead, {"answers": 1, "reviewers": 1, "each": 1})


def test_who_opens_a_review_knows_its_models_and_reviews_nothing(teacher: User) -> None:
    with pytest.raises(BadInput, match="knows their models, so cannot be a reviewer"):
        review_of(wrong_answers(1), [teacher], acting_user=teacher)


def test_judgements_are_spread_evenly_and_nobody_judges_an_answer_twice(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher, third_teacher]
    review = review_of(wrong_answers(10), people, reviewers_each=2)
    slots = ReviewSlot.objects.filter(item__review=review)
    loads = [slots.filter(planned=person).count() for person in people]
    assert (sum(loads), max(loads) - min(loads)) == (20, 1)
    for item in items_of(review):
        first, second = item.slots.order_by("place")
        assert (first.place, second.place) == (1, 2)
        assert first.planned != second.planned


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"name": " "}, "bad_input"),
        ({"name": "Mistakes of Canary GPT-7f3a"}, "name_names_model"),
        ({"per_task": 0}, "bad_input"),
        ({"per_task": 1001}, "bad_input"),
        ({"reviewers_each": 3}, "bad_input"),
        ({"reviewers_each": 2}, "too_few_reviewers"),
    ],
)
def test_what_cannot_work_is_refused(fields: dict[str, object], code: str, teacher: User) -> None:
    with pytest.raises(BadInput) as refusal:
        review_of(wrong_answers(1), [teacher], **fields)
    assert refusal.value.code == code


def test_who_and_which_runs_can_be_in_a_review(teacher: User, lead: User) -> None:
    run = wrong_answers(1)
    with pytest.raises(BadInput, match="is not allowed to mark"):
        review_of(run, [lead])
    with pytest.raises(BadInput, match="twice"):
        review_of(run, [teacher, teacher])
    with pytest.raises(BadInput, match="at least one run"):
        review_of([], [teacher])
    with pytest.raises(BadInput, match="one dataset"):
        review_of([run, run_of("canary-m", "another")], [teacher])
    with pytest.raises(BadInput, match="no wrong answer"):
        review_of(make_run(), [teacher])


def test_a_review_that_begins_replaces_no_finished_one_in_the_tables(
    teacher: User, other_teacher: User
) -> None:
    run = wrong_answers(2)

    def understanding() -> float | None:
        (shares,) = capability_shares(run.dataset.slug).values() or [{}]
        figure = shares.get("understanding")
        return figure.value if figure else None

    assert understanding() is None
    first = review_of(run, [teacher])
    one, other = items_of(first)
    say(one, teacher, "u")
    assert understanding() == 1, "where none is over, the one that has begun"
    say(other, teacher)
    assert understanding() == 0.5
    second = review_of(run, [other_teacher], name="Review 2")
    assert understanding() == 0.5
    say(items_of(second)[0], other_teacher)
    assert understanding() == 0.5
    close_review(second, acting_user=None, now=NOW)
    assert understanding() == 0


def test_a_review_is_closed_once_and_says_what_is_missing(teacher: User, lead: User) -> None:
    review = review_of(wrong_answers(2), [teacher])
    close_review(review, acting_user=lead, now=NOW)
    assert (review.status, review.closed_at) == ("closed", NOW)
    assert AuditEntry.objects.get(tag=Tag.REVIEW_CLOSED).detail == {"missing": 2}
    with pytest.raises(Conflict):
        close_review(review, acting_user=lead, now=NOW)
