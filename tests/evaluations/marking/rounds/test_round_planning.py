"""Planning a round: what is chosen and frozen, its seed answers, its tolerances, its aliases."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from evaluations.marking.rounds.selectors.round_choice import (
    ResponseChoice,
    SeedWish,
    chosen_responses,
    contents_of,
    offers,
)
from evaluations.marking.rounds.selectors.round_preview import pace_of, preview_of_planned
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import close_round, start_round
from evaluations.marking.rounds.services.seed_answers import premark
from evaluations.models import BlindAnswer, FinalMark, MarkingRound, Response, SeedAnswer, Slot
from evaluations.models.vocabulary import AnswerRole, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict, NotAllowed, NotFound
from questions.models import Knowledge, LabelRevision, Question
from questions.rules.vocabulary import QuestionType
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    give,
    planned_pair,
    responses_to,
    small_round,
    subjective_question,
)
from tests.factories import (
    final_mark,
    make_response,
    make_revision,
    make_rubric,
    make_run,
    make_task,
)

pytestmark = pytest.mark.django_db
POINTS = (Decimal(3), Decimal(2), Decimal(6))


def planned(
    responses: list[Any], teachers: list[User], acting: User | None = None, **settings: Any
) -> MarkingRound:
    """A planned round over the runs of *responses*."""
    choice = settings.pop("choice", None) or ResponseChoice(
        tuple(response.run_id for response in responses)
    )
    settings = {
        "name": "Plan",
        "random_seed": 7,
        "scheme": Scheme.MEAN,
        "window_minutes": 0,
    } | settings
    return plan_round(
        RoundSettings(**settings), responses=choice, teachers=teachers, acting_user=acting
    )


def labelled(question: Question, **labels: Any) -> Question:
    """*question* under labels that count."""
    question.label = LabelRevision.objects.create(question=question, **labels)
    question.save(update_fields=["label"])
    return question


def test_a_planned_round_is_frozen_and_nobody_has_a_slot(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = planned(responses_to(subjective_question(), 3), [teacher, other_teacher], lead)
    assert (made.status, made.answers.count(), Slot.objects.count()) == (RoundStatus.PLANNED, 3, 0)
    detail = AuditEntry.objects.get(tag="round.planned", actor=lead).detail
    assert (detail["responses"], detail["seeds"], detail["scheme"]) == (3, 0, "mean")
    assert detail["teachers"] == [str(teacher), str(other_teacher)]
    settings = {name: detail[name] for name in ("tolerance_points", "tolerance_share", "mark_step")}
    assert settings == {"tolerance_points": "1", "tolerance_share": "0.1", "mark_step": "0.5"}
    more = ("task_tolerances", "point_tolerance", "window_minutes", "judge_check_share")
    assert [detail[name] for name in more] == [{}, None, made.window_minutes, None]
    start_round(made, acting_user=lead)
    assert (made.status, Slot.objects.count()) == (RoundStatus.OPEN, 6)
    with pytest.raises(Conflict, match="already started"):
        start_round(made, acting_user=lead)


def test_a_choice_narrows_by_year_and_by_the_labels_that_count() -> None:
    category = Knowledge.objects.create(slug="mechanics", english="Mechanics", chinese="力学")
    below = Knowledge.objects.create(
        slug="motion", english="Motion", chinese="运动学", parent=category
    )
    run = make_run()
    old = labelled(subjective_question(year=2010), ability_branch="reasoning", modal="text")
    LabelRevision.objects.create(question=old, ability_branch="common_sense")  # counts no more
    hard = labelled(subjective_question(year=2011), difficulty=5, knowledge=below)
    plain = subjective_question(year=2012)
    for question in (old, hard, plain):
        make_response(question, run)

    def chosen(**choice: Any) -> set[int]:
        found = chosen_responses(ResponseChoice((run.pk,), **choice), 7)
        return {response.question_id for response in found}

    assert chosen(years=(2010, 2012)) == {old.pk, plain.pk}
    assert chosen(branches=("reasoning",)) == {old.pk}
    assert chosen(branches=("common_sense",)) == set()
    assert chosen(modals=("text",)) == {old.pk}
    assert chosen(difficulties=(5,)) == {hard.pk}
    assert chosen(knowledge=(category.pk,)) == chosen(knowledge=(below.pk,)) == {hard.pk}
    found = offers()
    assert (found.years, found.branches, found.difficulties) == (
        (2010, 2011, 2012),
        ("reasoning",),
        (5,),
    )
    assert {row.slug for row in found.knowledge} == {"mechanics", "motion"}


def test_a_task_may_have_a_tolerance_of_its_own(teacher: User, other_teacher: User) -> None:
    own, usual = (make_task(question_type=QuestionType.OPEN_ENDED) for _ in range(2))
    run = make_run()
    for task in (own, usual):
        make_response(subjective_question(task=task), run)
    made = planned(
        [],
        [teacher, other_teacher],
        choice=ResponseChoice((run.pk,)),
        task_tolerances={own.pk: Decimal("2.75")},
    )
    found = {
        answer.question.task_id: answer.tolerance
        for answer in made.answers.select_related("question")
    }
    # 2.75 down to the step of 0.5; the other has 10 % of 12 points, down to the step.
    assert found == {own.pk: Decimal("2.5"), usual.pk: Decimal(1)}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"repeat_share": Decimal("1.1")}, "0 to 100 % intra-rater checks"),
        ({"seeds": SeedWish(taken=21)}, "0 to 20 seed answers"),
        ({"seeds": SeedWish(premarked=-1)}, "0 to 20 seed answers"),
        ({"point_tolerance": Decimal(-1)}, "tolerance must be at least 0 points"),
        ({"task_tolerances": {1: Decimal("NaN")}}, "tolerance must be at least 0 points"),
        ({"marking_notes": "x" * 20_001}, "at most 20000 characters"),
    ],
)
def test_settings_that_could_not_work_are_refused(
    settings: dict[str, Any], said: str, teacher: User, other_teacher: User
) -> None:
    with pytest.raises(BadInput, match=said):
        planned(responses_to(subjective_question(), 2), [teacher, other_teacher], **settings)
    assert not MarkingRound.objects.exists()


def test_a_name_that_tells_a_chosen_model_is_refused(teacher: User, other_teacher: User) -> None:
    responses = responses_to(subjective_question(), 2, "gpt-4-0314")
    with pytest.raises(BadInput, match="the name of the model gpt-4-0314") as refusal:
        planned(responses, [teacher, other_teacher], name="GPT-4 主观题")
    assert refusal.value.code == "name_names_model"
    assert not MarkingRound.objects.exists()
    assert planned(responses, [teacher, other_teacher], name="Claude 3 主观题").answers.count() == 2


def test_a_deadline_in_the_past_is_refused(teacher: User, other_teacher: User) -> None:
    responses = responses_to(subjective_question(), 2)
    with pytest.raises(BadInput, match="already passed"):
        plan_round(
            RoundSettings("Plan", 7, scheme=Scheme.MEAN, deadline=NOW - timedelta(minutes=1)),
            responses=ResponseChoice(tuple(response.run_id for response in responses)),
            teachers=[teacher, other_teacher],
            acting_user=None,
            now=NOW,
        )


# ---- seed answers ----


def closed_round(question: Question, people: list[User], responses: int = 2) -> MarkingRound:
    """A closed round whose responses all got 11.5: 3-2-6 and 3-3-6."""
    made = small_round(people, responses, question=question, scheme=Scheme.MEAN)
    for answer in answers_of(made):
        for person, points in zip(planned_pair(answer), ("3 2 6", "3 3 6"), strict=True):
            give(answer, person, points.split())
    close_round(made, acting_user=None, now=NOW)
    return made


def test_seeds_are_taken_from_closed_rounds_with_their_reference(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    question = subjective_question()
    closed_round(question, [teacher, other_teacher], 3)
    fresh = responses_to(question, 4)
    made = planned(fresh, [teacher, third_teacher], lead, seeds=SeedWish(taken=2))
    seeds = made.answers.filter(role=AnswerRole.SEED)
    assert (seeds.count(), made.answers.filter(role=AnswerRole.ANSWER).count()) == (2, 4)
    reference = SeedAnswer.objects.get(answer=seeds[0])
    assert (reference.total, reference.points) == (Decimal("11.5"), ["3", "2.5", "6"])
    assert reference.taken_from == FinalMark.objects.get(answer__response=seeds[0].response)
    contents = contents_of(
        ResponseChoice(tuple(response.run_id for response in fresh)), SeedWish(taken=9), 7
    )
    assert len(contents.taken) == 3, "no more than there are"


def test_who_marked_a_seed_elsewhere_does_not_meet_it(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    question = subjective_question()
    closed_round(question, [teacher, other_teacher], 3)
    made = planned(responses_to(question, 9), [teacher, third_teacher], seeds=SeedWish(taken=3))
    start_round(made, acting_user=None)
    seeds = Slot.objects.filter(answer__round=made, kind=SlotKind.SEED)
    assert list(seeds.values_list("planned", flat=True)) == [third_teacher.pk]


@pytest.mark.parametrize("why", ["open", "rubric", "earlier rubric", "chosen", "another text"])
def test_what_is_no_reference(why: str, teacher: User, other_teacher: User) -> None:
    question = subjective_question()
    earlier = closed_round(question, [teacher, other_teacher])
    if why == "open":
        MarkingRound.objects.filter(pk=earlier.pk).update(status=RoundStatus.OPEN)
    if why == "rubric":
        make_rubric(question, (("all of it", "12"),))
    if why == "earlier rubric":  # a decision that stayed when its response was moved
        newer = make_rubric(question, (("all of it", "12"),))
        earlier.answers.update(rubric=newer)
    runs = [answer.response.run_id for answer in answers_of(earlier)] if why == "chosen" else []
    fresh = responses_to(question, 2)
    runs += [response.run_id for response in fresh]
    if why == "another text":
        given = Response.objects.filter(pk__in=[one.pk for one in fresh])
        given.update(revision=make_revision(question, "How far does it fall?"))
    contents = contents_of(ResponseChoice(tuple(runs)), SeedWish(taken=5), 7)
    assert not contents.taken


def marked_before(answer: BlindAnswer, person: User) -> None:
    """*person* has marked the response of *answer* in an earlier round, and is a lead by now."""
    earlier = planned([answer.response], [person], scheme=Scheme.SINGLE)
    start_round(earlier, acting_user=None)
    give(answers_of(earlier)[0], person, ["3", "3", "6"])
    ensure_user(person.username, roles=[Role.LEAD])


def test_a_lead_gives_reference_marks_before_the_start(
    teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    made = planned(
        responses_to(subjective_question(), 12),
        [teacher, other_teacher],
        lead,
        seeds=SeedWish(premarked=2),
    )
    one, other = made.answers.filter(role=AnswerRole.SEED)
    with pytest.raises(BadInput, match="above its maximum of 3"):
        premark(one, lead, points=(Decimal(4), Decimal(2), Decimal(6)))
    premark(one, lead, points=(Decimal(0), Decimal(0), Decimal(0)))
    premark(one, lead, points=POINTS, comment=" agreed ")
    reference = SeedAnswer.objects.get()
    assert (reference.total, reference.points, reference.comment, reference.author) == (
        Decimal(11),
        ["3", "2", "6"],
        "agreed",
        lead,
    )
    totals = AuditEntry.objects.filter(tag="round.seed_marked").order_by("id")
    assert [entry.detail["total"] for entry in totals] == ["0", "11"], "every version is kept"
    ordinary = made.answers.filter(role=AnswerRole.ANSWER)[0]
    with pytest.raises(NotFound):
        premark(ordinary, lead, points=POINTS)
    with pytest.raises(NotAllowed, match="Another lead"):
        premark(other, teacher, points=POINTS)
    marked_before(other, third_teacher)
    with pytest.raises(NotAllowed, match="You marked this response yourself"):
        premark(other, User.objects.get(pk=third_teacher.pk), points=POINTS)
    start_round(made, acting_user=lead)
    other.refresh_from_db()
    assert other.role == AnswerRole.ANSWER, "without a reference it is marked like the others"
    assert (
        AuditEntry.objects.filter(tag="round.opened").latest("pk").detail["without_reference"] == 1
    )
    with pytest.raises(Conflict, match="has started"):
        premark(one, lead, points=POINTS)


def test_a_question_keeps_a_response_to_be_marked(teacher: User, other_teacher: User) -> None:
    made = planned(
        responses_to(subjective_question(), 3),
        [teacher, other_teacher],
        seeds=SeedWish(premarked=20),
    )
    assert made.answers.filter(role=AnswerRole.ANSWER).count() == 1


def test_a_premarked_seed_gets_its_reference_as_final_mark_at_the_end(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = planned(
        responses_to(subjective_question(), 12),
        [teacher, other_teacher],
        lead,
        seeds=SeedWish(premarked=1),
    )
    seed = made.answers.get(role=AnswerRole.SEED)
    premark(seed, lead, points=POINTS)
    start_round(made, acting_user=lead)
    give(seed, teacher, ["0", "0", "0"])
    assert BlindAnswer.objects.get(pk=seed.pk).final is None, "a teacher's mark never counts"
    close_round(made, acting_user=lead, now=NOW)
    seed.refresh_from_db()
    assert seed.final is not None
    assert (seed.final.value, seed.final.rule) == (Decimal(11), "reference mark")
    assert not seed.final.marks.exists()
    closed = AuditEntry.objects.filter(tag="round.closed").latest("id")
    assert closed.detail == {"references": 1}
    assert AuditEntry.objects.latest("id").detail == {"unsettled": 11}


def test_a_plan_that_is_discarded_gives_no_final_mark(
    teacher: User, other_teacher: User, lead: User
) -> None:
    made = planned(
        responses_to(subjective_question(), 3),
        [teacher, other_teacher],
        lead,
        seeds=SeedWish(premarked=1),
    )
    premark(made.answers.get(role=AnswerRole.SEED), lead, points=POINTS)
    close_round(made, acting_user=lead, now=NOW)
    assert not FinalMark.objects.filter(answer__round=made).exists()


def test_a_seed_taken_elsewhere_keeps_its_final_mark(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    question = subjective_question()
    closed_round(question, [teacher, other_teacher], 1)
    made = planned(responses_to(question, 2), [teacher, third_teacher], seeds=SeedWish(taken=1))
    start_round(made, acting_user=None)
    close_round(made, acting_user=None, now=NOW)
    assert not FinalMark.objects.filter(answer__round=made).exists()


# ---- repeats, aliases and the load ----


def test_repeats_have_an_alias_among_the_others(teacher: User, other_teacher: User) -> None:
    made = planned(responses_to(subjective_question(), 30), [teacher, other_teacher])
    start_round(made, acting_user=None)
    repeats = list(made.answers.filter(role=AnswerRole.REPEAT))
    assert len(repeats) == 2, "one of each teacher's thirty"
    for repeat in repeats:
        (slot,) = repeat.slots.all()
        first = Slot.objects.get(answer=repeat.repeat_of, planned=slot.planned)
        assert (slot.kind, slot.order - first.order >= 10) == (SlotKind.REPEAT, True)
        assert repeat.response == repeat.repeat_of.response  # type: ignore[union-attr]
    numbers = sorted(int(answer.alias[2:]) for answer in made.answers.all())
    assert len(set(numbers)) == 32
    assert max(numbers) <= 38, "30, 3 for two repeats and 5 to spare"


def test_the_load_says_what_is_laid_down_and_how_long_it_takes(
    teacher: User, other_teacher: User
) -> None:
    question = subjective_question()
    earlier = small_round([teacher, other_teacher], 3, question=question, scheme=Scheme.MEAN)
    for answer, seconds in zip(answers_of(earlier), (30, 60, 900), strict=True):
        for person in (teacher, other_teacher):
            give(answer, person, ["1", "1", "1"], seconds=seconds)
    pace = pace_of([question.task_id])
    assert (pace.of(question.task_id), pace.marks) == (130.0, 6)  # 30, 60 and 300, each twice
    assert pace_of([-1]).of(-1) == 120
    made = planned(responses_to(question, 31), [teacher, other_teacher])
    preview = preview_of_planned(made)
    # 31 and one repeat are 32 responses of 130 seconds: 69.3 minutes.
    assert [(one.load.all, one.minutes) for one in preview.teachers] == [(32, 69), (32, 69)]
    assert (preview.responses, preview.measured_tasks, preview.measured_marks) == (31, 1, 6)
    start_round(made, acting_user=None)
    assert Slot.objects.filter(answer__round=made).count() == 64


def test_a_large_round_needs_no_more_queries(
    teacher: User, other_teacher: User, django_assert_max_num_queries: Any
) -> None:
    question = subjective_question()
    closed_round(question, [teacher, other_teacher], 4)
    responses = responses_to(question, 40)
    with django_assert_max_num_queries(56):
        made = planned(responses, [teacher, other_teacher], seeds=SeedWish(taken=4, premarked=2))
        start_round(made, acting_user=None)


def test_the_final_marks_of_others_are_read_once_each(teacher: User, other_teacher: User) -> None:
    """A response with final marks in two closed rounds is one seed answer, of the newer round."""
    question = subjective_question()
    earlier = closed_round(question, [teacher, other_teacher], 1)
    (response,) = [answer.response for answer in answers_of(earlier)]
    again = BlindAnswer.objects.create(
        round=closed_round(question, [teacher, other_teacher], 1),
        response=response,
        question=question,
        revision=response.revision,
        alias="R-0099",
        full_marks=Decimal(12),
        tolerance=Decimal(1),
    )
    newer = final_mark(again, value=Decimal(9), full=Decimal(12), rule="single mark")
    runs = tuple(fresh.run_id for fresh in responses_to(question, 2))
    contents = contents_of(ResponseChoice(runs), SeedWish(taken=9), 7)
    assert newer in contents.taken
    assert len({final.answer.response_id for final in contents.taken}) == len(contents.taken) == 2
