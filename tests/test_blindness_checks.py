"""A seed answer and a self-repeat look like any response, before and after they are marked."""

from __future__ import annotations

import pytest
from django.db import transaction

from evaluations.marking.desk.selectors.desk import desk_item, own_progress
from evaluations.marking.desk.services.leaving import take_out
from evaluations.marking.desk.services.slots import claim_next, skip
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.selectors.returning import ReturnChoice
from evaluations.marking.monitoring.services.new_rubric import use_new_rubric
from evaluations.marking.monitoring.services.returning import return_marks
from evaluations.marking.rounds.selectors.round_choice import ResponseChoice, SeedWish
from evaluations.marking.rounds.services.round_planning import plan_round
from evaluations.marking.rounds.services.round_settings import RoundSettings
from evaluations.marking.rounds.services.rounds import close_round, start_round
from evaluations.models import BlindAnswer, Mark, MarkingRound, SeedAnswer, Slot
from evaluations.models.vocabulary import AnswerRole, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from tests.conftest import logged_in, make_user
from tests.evaluations.marking_world import (
    NOW,
    answers_of,
    claimed,
    give,
    later,
    planned_pair,
    responses_to,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric
from tests.test_blindness import HTMX, look, masked

pytestmark = pytest.mark.django_db


def disguise(answer: BlindAnswer, first: BlindAnswer, role: AnswerRole, lead: User) -> None:
    """Make *answer* and its teacher's slot what *role* says, and nothing else."""
    SeedAnswer.objects.filter(answer=answer).delete()
    repeat_of = first if role is AnswerRole.REPEAT else None
    BlindAnswer.objects.filter(pk=answer.pk).update(role=role, repeat_of=repeat_of)
    if role is AnswerRole.SEED:
        SeedAnswer.objects.create(answer=answer, total=7, author=lead, comment="canary-seed")
    kinds = {AnswerRole.SEED: SlotKind.SEED, AnswerRole.REPEAT: SlotKind.REPEAT}
    Slot.objects.filter(answer=answer).update(kind=kinds.get(role, SlotKind.FIRST))


@pytest.mark.parametrize("marked", [False, True], ids=["at hand", "marked"])
def test_no_page_tells_a_check_from_a_response(
    marked: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher], 3, scheme=Scheme.SINGLE, marking_notes="Half.")
    first = claimed(teacher, made).answer
    give(first, teacher, ["3", "3", "6"], seconds=30)
    answer = claimed(teacher, made).answer
    if marked:
        give(answer, teacher, ["1", "2", "3"], comment="mine", seconds=40)
        BlindAnswer.objects.filter(pk=answer.pk).update(final=None)
    (coming,) = [one for one in answers_of(made) if one not in (first, answer)]
    own = [f"/marking/rounds/{made.public_id}/", "/marking/", "/api/v1/marks/"]
    own += [f"/marking/responses/{one.public_id}/" for one in (answer, first, coming)]
    own += [f"/api/v1/marks/?response={answer.public_id}"]
    own += ["/marking/marks/", f"/marking/marks/?round={made.public_id}"]
    client = logged_in(teacher)
    worlds = []
    for role in AnswerRole:
        disguise(answer, first, role, lead)
        seen = [look(client, address, headers) for address in own for headers in ({}, HTMX)]
        again = client.post(f"/marking/responses/{answer.public_id}/revise/", headers=HTMX)
        worlds.append([*seen, again.status_code, masked(again.content)])
        assert b"canary" not in repr(seen).encode()
    assert worlds[0] == worlds[1] == worlds[2]


def test_a_check_is_skipped_and_drafted_like_any_response(
    teacher: User, other_teacher: User, lead: User
) -> None:
    """What one does with it is answered the same: a draft, a skip, a save that does not fit."""
    made = small_round([teacher], 3, scheme=Scheme.SINGLE)
    first = claimed(teacher, made).answer
    give(first, teacher, ["3", "3", "6"])
    answer = claimed(teacher, made).answer
    client, said = logged_in(teacher), []
    where = f"/marking/responses/{answer.public_id}/"
    sent = {"answer": str(answer.public_id), "key": "0" * 32, "version": "0", "point-1": "99"}
    for sequence, role in enumerate(AnswerRole, 1):
        disguise(answer, first, role, lead)
        draft = {"sequence": sequence, "comment": "x"}
        drafted = client.post(f"{where}draft/", draft, headers=HTMX)
        refused = client.post(f"{where}save/", sent, headers=HTMX)
        said.append((drafted.status_code, refused.status_code, masked(refused.content)))
    assert said[0] == said[1] == said[2]
    assert said[0][:2] == (200, 400)


@pytest.mark.parametrize("to_others", [False, True], ids=["to the same", "to others"])
def test_marks_that_go_back_leave_no_check_behind(
    to_others: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    """What stayed marked, counted or versioned alone would be known as a check."""
    made = small_round([teacher, other_teacher], 6, scheme=Scheme.SINGLE)
    marked = []
    for _ in range(3):
        answer = claimed(teacher, made).answer
        give(answer, teacher, ["3", "3", "6"])
        marked.append(answer)
    for answer, role in zip(marked, AnswerRole, strict=True):
        disguise(answer, marked[0], role, lead)
    BlindAnswer.objects.filter(pk__in=[one.pk for one in marked[1:]]).update(final=None)
    past = NOW.replace(year=2000)
    return_marks(
        made, teacher, ReturnChoice(past), to_others=to_others, acting_user=lead, now=later(5)
    )
    told = logged_in(teacher).get("/api/v1/marks/").json()["results"]
    assert [mark["version"] for mark in told] == [0, 0, 0]
    assert own_progress(teacher, made).marked == 0
    given = []
    while slot := claim_next(teacher, round=made, now=later(6)):
        give(slot.answer, teacher, ["1", "1", "1"])
        given.append(slot.answer)
    assert to_others == (not set(marked[1:]) & set(given)), "nobody else is given a check"


@pytest.mark.parametrize("scheme", [Scheme.SINGLE, Scheme.TWO_AND_LEAD])
@pytest.mark.parametrize("marked", [False, True], ids=["at hand", "marked"])
def test_a_new_rubric_leaves_no_check_behind(
    scheme: Scheme, marked: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    """Its mark, its rubric and its place in the queue go the way of any response's."""
    question = subjective_question()
    pool = [teacher] if scheme is Scheme.SINGLE else [teacher, other_teacher]
    made = small_round(pool, 3, scheme=scheme, question=question)
    first = claimed(teacher, made).answer
    give(first, teacher, ["3", "3", "6"])
    answer = claimed(teacher, made).answer
    if marked:
        give(answer, teacher, ["3", "3", "0"])
    make_rubric(question, (("all of it", "12"),))
    worlds = []
    for role in AnswerRole:
        before = transaction.savepoint()
        disguise_own(answer, first, role, teacher, lead)
        use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=later(5))
        worlds.append(told_of(made, answer, first, teacher))
        transaction.savepoint_rollback(before)
    assert worlds[0] == worlds[1] == worlds[2]


def disguise_own(
    answer: BlindAnswer, first: BlindAnswer, role: AnswerRole, teacher: User, lead: User
) -> None:
    """As ``disguise``, where another teacher may be planned for the response too."""
    Slot.objects.filter(answer=answer).exclude(holder=teacher).update(planned=None)
    if role is not AnswerRole.ANSWER:
        Slot.objects.filter(answer=answer).exclude(holder=teacher).delete()
        BlindAnswer.objects.filter(pk=answer.pk).update(final=None)
        disguise(answer, first, role, lead)


def told_of(
    made: MarkingRound, answer: BlindAnswer, first: BlindAnswer, teacher: User
) -> list[object]:
    """What the teacher's screen and API say of their marks, and what they are given next."""
    progress = own_progress(teacher, made)
    marks = logged_in(teacher).get(f"/api/v1/marks/?response={answer.public_id}").json()["results"]
    told = [(mark["version"], mark["total"], len(mark["points"])) for mark in marks]
    coming: list[tuple[str, list[str], str]] = []
    names = {answer.pk: "this one", first.pk: "the first"}
    while slot := claim_next(teacher, round=made, now=later(6)):
        item = desk_item(slot, teacher)
        name = names.get(slot.answer_id, "the third")
        coming.append((name, [point.text for point in item.item.scoring_points], str(item.given)))
        give(slot.answer, teacher, ["1"] * len(item.item.scoring_points))
    # In a round as small as this one a repeat cannot keep its distance from its first.
    return [progress.marked, progress.total, told, sorted(coming)]


@pytest.mark.parametrize("how", ["skipped", "left", "taken out"])
def test_who_was_shown_a_response_in_one_round_does_not_meet_it_as_a_seed(
    how: str, teacher: User, other_teacher: User, third_teacher: User, lead: User
) -> None:
    """They gave no mark on it, and would know its text."""
    question = subjective_question()
    earlier = small_round([teacher, other_teacher], 1, question=question, scheme=Scheme.MEAN)
    earlier.pool.create(teacher=third_teacher)
    slot = claimed(third_teacher, earlier)
    if how == "skipped":
        assert skip(slot, third_teacher, now=later(1))
    elif how == "left":
        assert slot.planned
        assert claimed(slot.planned, earlier, later(31)) == slot
    else:
        take_out(earlier, third_teacher, acting_user=lead, now=later(1))
    for person in planned_pair(slot.answer):
        give(slot.answer, person, ["3", "3", "6"], now=later(32))
    close_round(earlier, acting_user=None, now=later(33))
    fourth, fifth = (make_user(Role.TEACHER, name) for name in ("zoe", "yue"))
    planned = plan_round(
        RoundSettings(name="Next", random_seed=7, seeds=SeedWish(taken=1)),
        responses=ResponseChoice(tuple(one.run_id for one in responses_to(question, 18))),
        teachers=[third_teacher, fourth, fifth],
        acting_user=None,
    )
    start_round(planned, acting_user=None)
    seeds = Slot.objects.filter(answer__round=planned, kind=SlotKind.SEED)
    assert set(seeds.values_list("planned", flat=True)) == {fourth.pk, fifth.pk}
    at_the_same_time = plan_round(
        RoundSettings(name="Beside", random_seed=8, seeds=SeedWish(taken=1)),
        responses=ResponseChoice(tuple(one.run_id for one in responses_to(question, 18))),
        teachers=[third_teacher, fourth, fifth],
        acting_user=None,
    )
    start_round(at_the_same_time, acting_user=None)
    assert not Slot.objects.filter(answer__round=at_the_same_time, kind=SlotKind.SEED).exists()


def repeat_of(made: MarkingRound, teacher: User, first: int, place: int) -> Slot:
    """Make an intra-rater check of what stands at *place* of the queue, for what is at *first*."""
    own = list(Slot.objects.filter(planned=teacher, answer__round=made).order_by("order"))
    check = own[place]
    check.answer.slots.exclude(pk=check.pk).delete()
    Slot.objects.filter(pk=check.pk).update(kind=SlotKind.REPEAT)
    answers = BlindAnswer.objects.filter(pk=check.answer_id)
    answers.update(role=AnswerRole.REPEAT, repeat_of=own[first].answer)
    return Slot.objects.get(pk=check.pk)


@pytest.mark.parametrize("to_others", [False, True])
def test_a_check_at_hand_is_given_again_when_its_first_is_returned(
    to_others: bool, teacher: User, other_teacher: User, lead: User
) -> None:
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE)
    check = repeat_of(made, teacher, 0, 12)
    first = claimed(teacher, made)
    for minute in range(12):
        give(claimed(teacher, made, later(minute)).answer, teacher, ["1", "1", "1"])
    assert claimed(teacher, made, later(13)) == check
    before = own_progress(teacher, made, later(14)).total
    choice = ReturnChoice(aliases=[first.answer.alias])
    return_marks(made, teacher, choice, to_others=to_others, acting_user=lead, now=later(14))
    assert claimed(teacher, made, later(15)) == check
    assert own_progress(teacher, made, later(15)).total == before - to_others


@pytest.mark.parametrize(
    ("shown", "event", "then"),
    [
        ("put aside", "first to the same", "puts all aside"),
        ("put aside", "first to the same", "marks the first alone"),
        ("put aside", "first to others", "marks all"),
        ("marked", "all to the same", "puts all aside"),
        ("marked", "all to the same", "marks the first alone"),
        ("at hand", "new rubric", "marks the first alone"),
        ("at hand", "new rubric", "marks all"),
    ],
)
def test_a_check_that_was_shown_comes_again_where_a_response_would(
    shown: str, event: str, then: str, teacher: User, other_teacher: User, lead: User
) -> None:
    """Whatever becomes of its first: with the mark of that alone returned, it stayed away."""
    question = subjective_question()
    made = small_round([teacher, other_teacher], 30, scheme=Scheme.SINGLE, question=question)
    make_rubric(question, (("all of it", "12"),))
    own = list(Slot.objects.filter(planned=teacher, answer__round=made).order_by("order"))
    first, check = own[0], own[11]
    worlds = []
    for is_check in (False, True):
        before = transaction.savepoint()
        if is_check:
            assert repeat_of(made, teacher, 0, 11) == check
        for _slot in own[:11]:
            give(claimed(teacher, made).answer, teacher, ["1", "1", "1"])
        assert claimed(teacher, made) == check
        if shown == "put aside":
            assert skip(check, teacher, now=later(1))
        elif shown == "marked":
            give(check.answer, teacher, ["1", "1", "1"])
        if event == "new rubric":
            scope = RemarkScope.ALL
            use_new_rubric(made, question, scope=scope, acting_user=lead, now=later(2))
        else:
            every = event == "all to the same"
            choice = (
                ReturnChoice(since=NOW) if every else ReturnChoice(aliases=[first.answer.alias])
            )
            others = event == "first to others"
            return_marks(made, teacher, choice, to_others=others, acting_user=lead, now=later(2))
        came: list[object] = []
        for minute in range(3, 23):
            slot = claimed(teacher, made, later(minute))
            came.append((slot.pk, own_progress(teacher, made, later(minute)).total))
            if slot.planned != teacher:
                break
            if then == "marks all" or (then == "marks the first alone" and slot == first):
                points = ["1"] if event == "new rubric" else ["1", "1", "1"]
                give(slot.answer, teacher, points, now=later(minute))
            else:
                assert skip(slot, teacher, now=later(minute))
        assert check.pk in [pk for pk, _total in came]
        worlds.append(came)
        transaction.savepoint_rollback(before)
    assert worlds[0] == worlds[1]


def test_what_comes_after_helping_out_has_begun_is_no_check(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    """The first was put aside and marked last: its check would come among responses of others."""
    made = small_round([teacher, other_teacher, third_teacher], 36, scheme=Scheme.SINGLE)
    check = repeat_of(made, teacher, 0, 11)
    first = claimed(teacher, made)
    assert skip(first, teacher, now=later(1))
    while (slot := claimed(teacher, made, later(2))).planned == teacher:
        give(slot.answer, teacher, ["1", "1", "1"], now=later(2))
        assert slot != check
    assert Mark.objects.filter(slot=first).exists()
    for _response in range(15):
        give(slot.answer, teacher, ["1", "1", "1"], now=later(2))
        slot = claimed(teacher, made, later(2))
        assert slot.planned != teacher
        progress = own_progress(teacher, made, later(2))
        assert progress.total == progress.marked + 1, "as if there were no check"
    assert not Slot.objects.filter(pk=check.pk, planned=teacher).exists()
