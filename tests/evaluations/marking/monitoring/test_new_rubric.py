"""A newer rubric in the middle of a round, and the checks among the responses to its question."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from evaluations.marking.arbitration.services import arbitrate
from evaluations.marking.desk.selectors.desk import desk_item, own_progress
from evaluations.marking.desk.services.drafts import save_draft
from evaluations.marking.desk.services.marking import save_mark
from evaluations.marking.desk.services.same_rubric import rubric_code
from evaluations.marking.desk.services.slots import claim_next
from evaluations.marking.monitoring.selectors.monitoring import watched_round
from evaluations.marking.monitoring.selectors.new_rubric import RemarkScope
from evaluations.marking.monitoring.services.new_rubric import NewRubricResult, use_new_rubric
from evaluations.marking.rounds.selectors.exports import MARK_COLUMNS, marks_of_round
from evaluations.marking.rounds.selectors.rounds import state_counts
from evaluations.marking.rounds.selectors.seed_answers import waiting_seeds
from evaluations.marking.rounds.services.rounds import close_round
from evaluations.marking.rounds.services.seed_answers import premark
from evaluations.marking.services.finalizing import finalize_due
from evaluations.models import BlindAnswer, Draft, Mark, MarkingRound, SeedAnswer, Slot
from evaluations.models.vocabulary import AnswerRole, ArbitrationReason, RoundStatus, SlotKind
from evaluations.schemes import Scheme
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.audit.models import AuditEntry
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import Question
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_pages import filled
from tests.evaluations.marking_world import (
    answers_of,
    give,
    later,
    planned_pair,
    responses_to,
    round_over,
    slot_of,
    small_round,
    subjective_question,
)
from tests.factories import make_rubric, make_user
from tests.questions.test_gate_service import revise

pytestmark = pytest.mark.django_db
WHOLE = ("3", "3", "3")
Points = tuple[tuple[str, str], ...]


@pytest.fixture
def question() -> Question:
    return subjective_question()


def with_seed(teachers: list[User], question: Question, lead: User, scheme: Scheme) -> MarkingRound:
    """A round of three whose first response is a seed answer in every teacher's queue."""
    made = small_round(teachers, 3, question=question, scheme=scheme)
    seed = answers_of(made)[0]
    seed.slots.all().delete()
    BlindAnswer.objects.filter(pk=seed.pk).update(role=AnswerRole.SEED)
    SeedAnswer.objects.create(answer=seed, total=Decimal(9), points=WHOLE, author=lead)
    for teacher in teachers:
        Slot.objects.create(answer=seed, kind=SlotKind.SEED, planned=teacher, order=0)
    return made


def moved(
    made: MarkingRound, question: Question, scope: RemarkScope, lead: User
) -> NewRubricResult:
    make_rubric(question, (("all of it", "12"),))
    return use_new_rubric(made, question, scope=scope, acting_user=lead, now=later(5))


def hits(made: MarkingRound, teacher: User) -> tuple[float | None, int]:
    (own,) = [one for one in watched_round(made).teachers if one.key == teacher.pk]
    return own.figures["seed_hits"].value, own.figures["seed_hits"].n


def consistency(made: MarkingRound) -> int:
    """How many intra-rater checks of the only teacher are compared."""
    (own,) = watched_round(made).teachers
    return own.figures["self_consistency"].n


def test_a_seed_answer_waits_for_a_reference_under_the_new_rubric(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    made = with_seed([teacher, other_teacher], question, lead, Scheme.MEAN)
    seed = answers_of(made)[0]
    give(seed, teacher, WHOLE)
    assert hits(made, teacher) == (1, 1)
    assert moved(made, question, RemarkScope.ALL, lead).references == 1
    assert list(waiting_seeds(made)) == [seed]
    detail = AuditEntry.objects.get(tag="round.rubric_moved").detail
    assert [(one["answer"], one["total"]) for one in detail["references"]] == [
        (seed.alias, "9.0000")
    ]
    give(seed, teacher, ["7"])
    assert hits(made, teacher) == (None, 0), "nothing to compare with until the lead has marked it"
    new = rubric_code(BlindAnswer.objects.get(pk=seed.pk))
    with pytest.raises(Conflict, match="The rubric has changed"):
        premark(seed, lead, points=[Decimal(4)], rubric=rubric_code(seed))
    premark(seed, lead, points=[Decimal(4)], rubric=new)
    assert hits(made, teacher) == (0, 1)
    with pytest.raises(Conflict):
        premark(seed, lead, points=[Decimal(7)], rubric=new)


def test_a_seed_answer_that_lost_its_reference_is_counted_before_the_round_closes(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    """It would get no final mark: the dialog says so, and the trail when it is done."""
    made = with_seed([teacher, other_teacher], question, lead, Scheme.MEAN)
    of_round = reverse("rounds:round", args=[made.public_id])
    waiting = made.answers.filter(role=AnswerRole.ANSWER).count()
    assert f"{waiting} response" in logged_in(lead).get(of_round).text
    moved(made, question, RemarkScope.ALL, lead)
    page = logged_in(lead).get(of_round)
    assert page.context["without_final"] == waiting + 1
    assert "1 of them is a seed answer whose reference mark a new rubric has retired" in page.text
    close_round(made, acting_user=lead, now=later(9))
    assert AuditEntry.objects.get(tag="round.finalized").detail == {"unsettled": waiting + 1}
    seeds = logged_in(lead).get(reverse("rounds:seeds", args=[made.public_id])).text
    assert ("no reference mark" in seeds, "needs your mark" in seeds) == (True, False)


def test_a_lead_reads_that_responses_answer_an_earlier_text(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    """A rubric is accepted for the present text; a round keeps the text that was answered."""
    made = small_round([teacher, other_teacher], 2, question=question)
    make_rubric(question, (("all of it", "12"),))
    client, where = logged_in(lead), reverse("monitoring:rubrics", args=[made.public_id])
    assert "earlier version" not in client.get(where).text
    revise(question, stem="another text")
    assert "2 of these responses answer an earlier version" in client.get(where).text
    MarkingRound.objects.update(status=RoundStatus.PLANNED)
    plan = reverse("rounds:round", args=[made.public_id])
    assert "2 responses with a rubric answer earlier versions" in client.get(plan).text


def test_where_checks_are_hidden_all_of_a_question_move_together(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    """With one mark each too: a marked check never has a final mark, and would stay alone."""
    made = with_seed([teacher, other_teacher], question, lead, Scheme.SINGLE)
    seed = answers_of(made)[0]
    give(seed, teacher, WHOLE)
    for scope in (RemarkScope.UNMARKED, RemarkScope.WITHOUT_FINAL):
        with pytest.raises(BadInput, match="all responses to a question"):
            moved(made, question, scope, lead)
    assert moved(made, question, RemarkScope.ALL, lead).references == 1
    again = Slot.objects.get(answer=seed, planned=teacher)
    assert (again.marked, again.void_version) == (False, 1)


def test_a_intra_rater_check_under_another_rubric_is_not_compared(
    question: Question, teacher: User, lead: User
) -> None:
    made = small_round([teacher], 3, question=question, scheme=Scheme.SINGLE)
    first, again, third = answers_of(made)
    give(first, teacher, WHOLE)
    BlindAnswer.objects.filter(pk=again.pk).update(role=AnswerRole.REPEAT, repeat_of=first)
    Slot.objects.filter(answer=again).update(kind=SlotKind.REPEAT)
    assert moved(made, question, RemarkScope.ALL, lead).responses == 2
    third.refresh_from_db()
    again.refresh_from_db()
    assert again.rubric == third.rubric
    give(again, teacher, ["9"])
    assert consistency(made) == 0
    give(first, teacher, ["9"])
    assert consistency(made) == 1


@pytest.fixture
def three(teacher: User, other_teacher: User) -> list[User]:
    return [teacher, other_teacher, make_user(Role.TEACHER, "zhou")]


def third_marked(three: list[User], question: Question) -> tuple[MarkingRound, list[User]]:
    """A round of one response with three distant marks; its markers in the order of their roles."""
    made = small_round(three, 1, question=question, scheme=Scheme.THREE_AND_LEAD)
    (answer,) = answers_of(made)
    first, second = planned_pair(answer)
    third = next(one for one in three if one not in (first, second))
    give(answer, first, ("0", "0", "0"))
    give(answer, second, ("3", "3", "6"))
    assert claim_next(third, round=made, now=later(2))
    give(answer, third, ("3", "3", "5"))
    return made, [first, second, third]


def test_under_a_new_rubric_everybody_marks_in_the_role_they_had(
    question: Question, three: list[User], lead: User
) -> None:
    made, (first, second, third) = third_marked(three, question)
    (answer,) = answers_of(made)
    make_rubric(question, (("all of it", "12"),))
    use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=later(5))
    assert state_counts(made)["open"] == 1
    slot = claim_next(third, round=made, now=later(6))
    assert slot is not None, "at once: the third teacher would know why theirs comes later"
    assert slot.kind == SlotKind.THIRD
    give(answer, third, ["6"], now=later(6))
    for person, points in ((second, "12"), (first, "0")):
        slot = claim_next(person, round=made, now=later(6))
        assert slot is not None
        assert slot.kind == (SlotKind.FIRST if person == first else SlotKind.SECOND)
        give(answer, person, [points], now=later(7))
    finalize_due(made, now=later(60))
    answer.refresh_from_db()
    assert answer.final is None
    assert state_counts(made)["arbitration"] == 1, "0, 12 and 6 are far apart"


def test_who_once_had_another_role_can_still_save(
    question: Question, three: list[User], lead: User
) -> None:
    """The page makes its key of teacher, response and own versions: it may have been used."""
    made, (first, _second, third) = third_marked(three, question)
    (answer,) = answers_of(made)
    used = Mark.objects.get(teacher=third)
    make_rubric(question, (("all of it", "12"),))
    use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=later(5))
    slot = slot_of(answer, SlotKind.FIRST)
    Slot.objects.filter(pk=slot.pk).update(holder=third, planned=None, lease_until=later(40))
    slot.refresh_from_db()
    given = {"key": used.key, "based_on_version": 0, "points": [Decimal(4)]}
    given["rubric"] = rubric_code(BlindAnswer.objects.get(pk=slot.answer_id))
    stored = [save_mark(slot, third, **given, now=later(minute)) for minute in (7, 8)]
    assert [one.repeated for one in stored] == [False, True]
    assert stored[0].mark == stored[1].mark
    assert stored[0].mark.slot == slot
    assert first not in {one.mark.teacher for one in stored}


@pytest.mark.parametrize("with_arbitrated", [False, True])
def test_under_a_new_rubric_a_teacher_sees_nothing_of_the_partner(
    question: Question, three: list[User], lead: User, with_arbitrated: bool
) -> None:
    """What comes, under which wording, which own marks stand and how many are left."""
    made = small_round(three, 2, question=question, scheme=Scheme.THREE_AND_LEAD)
    answer = answers_of(made)[0]
    one, other = planned_pair(answer)
    told = []
    for state in ("unmarked", "marked", "settled", "third asked", "decided"):
        before = transaction.savepoint()
        give(answer, one, ("3", "3", "0"))
        partner_at(state, answer, other, lead)
        make_rubric(question, (("all of it", "12"),))
        use_new_rubric(
            made, question, scope=RemarkScope.ALL, with_arbitrated=with_arbitrated,
            acting_user=lead, now=later(50),
        )  # fmt: skip
        told.append(told_to(one, made, answer))
        transaction.savepoint_rollback(before)
    assert told == [told[0]] * len(told)
    assert told[0][0] == 0, "every own mark is given again"


def partner_at(state: str, answer: BlindAnswer, other: User, lead: User) -> None:
    """Bring the mark of the other teacher of *answer* into *state*."""
    far = ("3", "3", "6")
    if state != "unmarked":
        give(answer, other, ("3", "3", "0") if state == "settled" else far)
    if state == "marked":
        Slot.objects.filter(answer=answer).update(revisable_until=later(90))
        BlindAnswer.objects.filter(pk=answer.pk).update(final=None)
        Slot.objects.filter(answer=answer, kind=SlotKind.THIRD).delete()
    if state == "decided":
        Slot.objects.filter(answer=answer, kind=SlotKind.THIRD).delete()
        Slot.objects.create(answer=answer, kind=SlotKind.ARBITRATION)
        seen = list(Mark.objects.filter(slot__answer=answer).values_list("pk", flat=True))
        arbitrate(
            answer, lead, key=uuid.uuid4(), seen=seen, points=[Decimal(3)] * 3,
            reason=ArbitrationReason.SLIP, now=later(3),
        )  # fmt: skip


def told_to(one: User, made: MarkingRound, answer: BlindAnswer) -> list[object]:
    progress = own_progress(one, made)
    marks = logged_in(one).get(f"/api/v1/marks/?response={answer.public_id}").json()["results"]
    told: list[object] = [
        progress.marked, progress.total, [(m["version"], m["total"]) for m in marks]
    ]  # fmt: skip
    while slot := claim_next(one, round=made, now=later(51)):
        item = desk_item(slot, one)
        points = [point.text for point in item.item.scoring_points]
        told.append((slot.answer == answer, points, item.was_returned, item.saves))
        give(slot.answer, one, ["1"], now=later(51))
        if len(told) > 9:
            break
    return told


OTHER = (("only the number", "6"), ("unit", "3"), ("drawing", "3"))


def replaced(made: MarkingRound, question: Question, lead: User, rubric: Points = OTHER) -> None:
    make_rubric(question, rubric)
    use_new_rubric(made, question, scope=RemarkScope.ALL, acting_user=lead, now=timezone.now())


@pytest.mark.parametrize("rubric", [OTHER, (("all of it", "12"),)])
def test_an_open_page_saves_nothing_under_a_rubric_that_it_did_not_show(
    rubric: Points, question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    made, client = small_round([teacher, other_teacher], question=question), logged_in(teacher)
    (answer,) = answers_of(made)
    where = f"/marking/responses/{answer.public_id}/"
    shown = client.post(f"/marking/rounds/{made.public_id}/next/", follow=True).text
    replaced(made, question, lead, rubric)
    client.post(f"/marking/rounds/{made.public_id}/next/")  # in a second window
    sent = filled(shown, "3", "1", "2", comment="why")
    kept = client.post(f"{where}draft/", sent | {"sequence": "1"})
    refused = client.post(f"{where}save/", sent)
    assert (kept.status_code, refused.status_code) == (409, 409)
    assert not Mark.objects.exists()
    words = Draft.objects.get().content
    assert (words["points"], words["comment"]) == ([], "why")
    assert "The rubric has changed since these points were given." in refused.text
    assert "3 · 1 · 2<br>“why”" in refused.text
    assert all(text in refused.text for text, _points in rubric)
    again = filled(refused.text, *(points for _text, points in rubric))
    assert client.post(f"{where}save/", again).status_code == 302
    assert Mark.objects.get().total == 12


def test_a_draft_for_another_rubric_loses_its_points_alone(
    question: Question, teacher: User, lead: User
) -> None:
    made = small_round([teacher], question=question, scheme=Scheme.SINGLE)
    slot = claim_next(teacher, round=made, now=later(1))
    assert slot is not None
    content = {"points": ["3", "1", "2"], "comment": "why"}
    save_draft(slot, teacher, sequence=1, content=content, now=later(2))
    kept = Draft.objects.get().content
    replaced(made, question, lead)
    Draft.objects.update(content=kept)  # by a request that was under way
    slot = claim_next(teacher, round=made, now=later(6))
    assert slot is not None
    given = desk_item(slot, teacher).given
    assert (given.points, given.comment) == (("", "", ""), "why")


def test_the_api_takes_points_for_the_present_rubric_alone(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    made, client = small_round([teacher, other_teacher], question=question), logged_in(teacher)
    (answer,) = answers_of(made)
    old = rubric_code(answer)
    replaced(made, question, lead)
    claim_next(teacher, round=made, now=timezone.now())
    new = rubric_code(BlindAnswer.objects.get())
    sent = {"response": str(answer.public_id), "based_on_version": 0, "points": ["3", "1", "2"]}
    slot = Slot.objects.get(holder=teacher)
    content = {"points": ["3", "3", "5"]}
    save_draft(slot, teacher, sequence=1, content=content, rubric=new, now=timezone.now())
    typed = Draft.objects.get().content
    for paused, rubric, status in (
        (True, old, 409),
        (True, "", 409),
        (False, old, 409),
        (False, "", 409),
        (False, new, 201),
    ):
        state = RoundStatus.PAUSED if paused else RoundStatus.OPEN
        MarkingRound.objects.update(status=state)
        body = sent | {"key": str(uuid.uuid4()), "rubric": rubric}
        answered = client.post("/api/v1/marks/", body, content_type="application/json")
        assert answered.status_code == status
        assert status == 201 or answered.json()["code"] == "rubric_changed"
        assert status == 201 or Draft.objects.get().content == typed, "what was typed stays"
    assert answered.json()["rubric"] == new


def test_a_new_rubric_changes_nothing_for_the_same_number_of_another_task(
    question: Question, teacher: User, lead: User
) -> None:
    other = subjective_question()
    Question.objects.update(external_id="7")
    both = [response for one in (question, other) for response in responses_to(one, 1)]
    made = round_over(both, [teacher], scheme=Scheme.SINGLE)
    replaced(made, Question.objects.get(pk=question.pk), lead)
    client = logged_in(teacher)
    for asked, status in ((question, 409), (other, 201)):
        (answer,) = made.answers.filter(question=asked)
        until = timezone.now() + timedelta(minutes=30)
        answer.slots.update(holder=teacher, lease_until=until)
        sent = {"response": str(answer.public_id), "key": str(uuid.uuid4())}
        sent |= {"based_on_version": 0, "points": ["3", "1", "2"]}
        answered = client.post("/api/v1/marks/", sent, content_type="application/json")
        assert answered.status_code == status, answered.text


def test_the_page_of_a_reference_saves_nothing_under_a_rubric_that_it_did_not_show(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    made = with_seed([teacher, other_teacher], question, lead, Scheme.MEAN)
    replaced(made, question, lead, (("half", "6"), ("the rest", "6")))
    seed, client = answers_of(made)[0], logged_in(lead)
    sent = {"rubric": rubric_code(seed), "point-1": "2", "point-2": "1"}
    replaced(made, question, lead)
    address = f"/rounds/{made.public_id}/seeds/{seed.public_id}/"
    refused = client.post(address, sent)
    assert (refused.status_code, "2 · 1" in refused.text) == (409, True)
    assert not SeedAnswer.objects.exists()
    sent["rubric"] = rubric_code(BlindAnswer.objects.get(pk=seed.pk))
    assert client.post(address, sent | {"point-3": "0"}).status_code == 302
    assert SeedAnswer.objects.get().total == 3


def test_marks_under_a_new_rubric_are_not_compared_with_a_decision_under_the_old_one(
    question: Question, teacher: User, other_teacher: User, lead: User
) -> None:
    """The decision stays, and is on another scale: nobody is severe or lenient against it."""
    made = small_round([teacher, other_teacher], 1, question=question)
    (answer,) = answers_of(made)
    give(answer, teacher, ("0", "0", "0"))
    give(answer, other_teacher, WHOLE)
    seen = list(Mark.objects.filter(slot__answer=answer).values_list("pk", flat=True))
    arbitrate(
        answer, lead, key=uuid.uuid4(), seen=seen, points=[Decimal(3), Decimal(3), Decimal(2)],
        reason=ArbitrationReason.SLIP, now=later(3),
    )  # fmt: skip
    assert severities(made) == {teacher.pk: (-8 / 12, 1), other_teacher.pk: (1 / 12, 1)}
    moved(made, question, RemarkScope.ALL, lead)
    give(answer, teacher, ["5"], now=later(40))
    give(answer, other_teacher, ["5"], now=later(41))
    answer.refresh_from_db()
    assert answer.final is not None
    assert answer.final.value == 8
    assert severities(made) == {teacher.pk: (None, 0), other_teacher.pk: (None, 0)}
    rows = [dict(zip(MARK_COLUMNS, row, strict=True)) for row in marks_of_round(made)]
    told = {(row["rubric_version"], row["points"], row["counts"]) for row in rows}
    new = question.rubrics.latest("version").version
    assert told == {
        *((new - 1, "0 0 0", "no"), (new - 1, "3 3 3", "no"), (new - 1, "3 3 2", "yes")),
        (new, "5", "yes"),
    }
    address = reverse("rounds:response", args=[made.public_id, answer.public_id])
    page = logged_in(lead).get(address).text
    assert page.count("under version") == page.count(f"under version {new - 1} of the rubric") == 1
    assert re.search(f"Arbitration, under version {new - 1} of the rubric", page)
    Mark.objects.filter(slot__kind=SlotKind.ARBITRATION).update(rubric=None)
    page = logged_in(lead).get(address).text
    assert ("under version" in page, "Arbitration, without a rubric" in page) == (False, True)


def severities(made: MarkingRound) -> dict[int, tuple[float | None, int]]:
    return {
        one.key: (one.figures["severity"].value, one.figures["severity"].n)
        for one in watched_round(made).teachers
    }
