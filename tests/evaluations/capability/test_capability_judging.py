"""Claiming and judging wrong answers: leases, versions, one save a key, undo, skip."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from evaluations.capability.rules.dimensions import Dimension
from evaluations.capability.selectors.capability_desk import review_for
from evaluations.capability.services.capability_judging import last_judged, save_judgement
from evaluations.capability.services.capability_review import close_review
from evaluations.capability.services.review_slots import LEASE, claim_next, skip, take
from evaluations.models import CapabilityJudgement, CapabilityReview, ReviewSlot
from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from gradeapp.accounts.services import ensure_user
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict, NotFound
from tests.conftest import logged_in
from tests.evaluations.review_world import (
    NOW,
    all_of,
    called,
    claimed,
    items_of,
    later,
    review_of,
    say,
    taken,
    wrong_answers,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def review(teacher: User, other_teacher: User) -> CapabilityReview:
    """Three answers; the two teachers judge each."""
    return review_of(wrong_answers(3), [teacher, other_teacher], reviewers_each=2)


def judge(slot: ReviewSlot, reviewer: User, **fields: Any) -> CapabilityJudgement:
    said: dict[str, Any] = {"key": uuid.uuid4(), "based_on_version": 0, "values": all_of(1)}
    return save_judgement(slot, reviewer, **(said | fields)).judgement


# ---- claiming ----


def test_an_answer_is_held_until_its_lease_ends(review: CapabilityReview, teacher: User) -> None:
    slot = claimed(teacher, review)
    assert (slot.holder, slot.planned, slot.lease_until) == (teacher, teacher, NOW + LEASE)
    assert claimed(teacher, review, later(5)).pk == slot.pk  # the same one, held for longer


def test_a_rival_loses_the_update_until_the_lease_ends(
    teacher: User, other_teacher: User, third_teacher: User
) -> None:
    people = [teacher, other_teacher]
    review = review_of(wrong_answers(1), people)
    slot = ReviewSlot.objects.get(item__review=review)
    assert take(slot.pk, teacher, now=NOW)
    assert not take(slot.pk, other_teacher, now=NOW)
    assert claim_next(other_teacher, review, now=NOW) is None
    assert claim_next(third_teacher, review, now=NOW + LEASE) is None  # no reviewer of it
    assert claimed(other_teacher, review, NOW + LEASE).pk == slot.pk


def test_who_is_through_helps_the_others_but_never_judges_an_answer_twice(
    review: CapabilityReview, teacher: User, other_teacher: User
) -> None:
    for _ in range(3):
        judge(claimed(teacher, review), teacher)
    assert claim_next(teacher, review, now=NOW) is None
    single = review_of(wrong_answers(4, "canary-other"), [teacher, other_teacher])
    for _ in range(4):
        judge(claimed(teacher, single), teacher)
    assert ReviewSlot.objects.filter(item__review=single, holder=teacher).count() == 4


def test_no_count_tells_that_a_colleague_is_through(teacher: User, other_teacher: User) -> None:
    review = review_of(wrong_answers(6), [teacher, other_teacher])
    totals = []
    for _ in range(5):
        judge(claimed(teacher, review), teacher)
        progress = review_for(other_teacher, review).progress
        totals.append((progress.marked, progress.total))
    assert totals == [(0, 3)] * 5
    judge(claimed(teacher, review), teacher)
    assert review_for(other_teacher, review).progress.total == 0


def test_the_database_keeps_a_person_from_both_places(
    review: CapabilityReview, teacher: User
) -> None:
    item = items_of(review)[0]
    with pytest.raises(IntegrityError), transaction.atomic():
        item.slots.update(holder=teacher)


def test_a_skipped_answer_comes_back_at_the_end(review: CapabilityReview, teacher: User) -> None:
    first = claimed(teacher, review)
    assert skip(first, teacher)
    assert not skip(first, teacher)
    order = []
    for _ in range(3):
        slot = claimed(teacher, review)
        order.append(slot.pk)
        judge(slot, teacher)
    assert order[-1] == first.pk


def test_who_helps_out_skips_to_the_next_as_in_the_own_queue(
    teacher: User, other_teacher: User
) -> None:
    review = review_of(wrong_answers(6), [teacher, other_teacher])
    for _ in range(3):
        judge(claimed(teacher, review), teacher)
    shown = []
    for _ in range(6):
        slot = claimed(teacher, review)
        shown.append(slot.pk)
        assert skip(slot, teacher)
    assert len(set(shown[:3])) == 3
    assert shown[3:] == shown[:3]  # what was skipped first comes back first
    judge(claimed(teacher, review), teacher)
    assert claimed(teacher, review).pk == shown[1]


# ---- judging ----


def test_a_judgement_is_stored_with_its_weaknesses_in_order(
    review: CapabilityReview, teacher: User
) -> None:
    values = {**all_of(0), Dimension.UNDERSTANDING: 1, Dimension.CALCULATION: None}
    slot = claimed(teacher, review)
    given = ["multi_hop", "formulas", "formulas"]
    row = judge(slot, teacher, values=values, weaknesses=given, note=" why ", seconds=40)
    assert (row.understanding, row.knowledge, row.reasoning, row.calculation) == (1, 0, 0, None)
    assert (row.weaknesses, row.note, row.seconds) == (["formulas", "multi_hop"], "why", 40)
    slot.refresh_from_db()
    assert (slot.reviewed, slot.holder, slot.lease_until) == (True, teacher, None)
    assert AuditEntry.objects.get(tag=Tag.ANSWER_REVIEWED).actor == teacher


def test_the_same_key_and_content_is_one_judgement(review: CapabilityReview, teacher: User) -> None:
    slot, said = claimed(teacher, review), {"key": uuid.uuid4(), "based_on_version": 0}
    first = save_judgement(slot, teacher, values=all_of(1), **said)
    again = save_judgement(slot, teacher, values=all_of(1), **said)
    assert (first.repeated, again.repeated) == (False, True)
    assert first.judgement == again.judgement
    with pytest.raises(Conflict) as refusal:
        save_judgement(slot, teacher, values=all_of(0), **said)
    assert refusal.value.code == "stale_version"
    with pytest.raises(BadInput) as used:
        judge(claimed(teacher, review), teacher, key=said["key"])
    assert used.value.code == "key_used"
    assert CapabilityJudgement.objects.count() == 1


def test_an_earlier_judgement_that_an_old_page_sends_again_is_no_repeated_save(
    review: CapabilityReview, teacher: User
) -> None:
    """Two windows that show no judgement have one key. A request of the API has its own."""
    slot, said = claimed(teacher, review), {"key": uuid.uuid4(), "based_on_version": 0}
    first = save_judgement(slot, teacher, values=all_of(1), **said)
    judge(slot, teacher, based_on_version=1, values=all_of(0), note="second")
    with pytest.raises(Conflict) as refusal:
        save_judgement(slot, teacher, values=all_of(1), **said)
    stored = refusal.value.details["stored"]
    assert isinstance(stored, dict)
    assert (refusal.value.code, stored["version"], stored["note"]) == ("stale_version", 2, "second")
    again = save_judgement(slot, teacher, values=all_of(1), own_key=True, **said)
    assert (again.judgement, again.repeated) == (first.judgement, True)
    assert CapabilityJudgement.objects.count() == 2


def test_a_revision_is_a_new_version_and_an_old_page_writes_nothing_over_it(
    review: CapabilityReview, teacher: User
) -> None:
    slot = claimed(teacher, review)
    judge(slot, teacher, note="first")
    with pytest.raises(Conflict) as refusal:
        judge(slot, teacher, note="from another window")
    stored = refusal.value.details["stored"]
    assert isinstance(stored, dict)
    assert (refusal.value.code, stored["version"], stored["note"]) == ("stale_version", 1, "first")
    judge(slot, teacher, based_on_version=1, values=all_of(0), note="second")
    versions = slot.judgements.order_by("version").values_list("version", "reasoning", "note")
    assert list(versions) == [(1, 1, "first"), (2, 0, "second")]
    assert AuditEntry.objects.filter(tag=Tag.ANSWER_REVIEWED_AGAIN).count() == 1


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"values": {Dimension.REASONING: 1}}, "not_as_asked"),
        ({"values": all_of(2)}, "not_as_asked"),
        ({"weaknesses": ["laziness"]}, "unknown_weakness"),
        ({"note": "x" * 10_001}, "bad_input"),
    ],
)
def test_what_does_not_fit_is_refused(
    fields: dict[str, Any], code: str, review: CapabilityReview, teacher: User
) -> None:
    slot = claimed(teacher, review)
    with pytest.raises(BadInput) as refusal:
        judge(slot, teacher, **fields)
    assert refusal.value.code == code
    assert not CapabilityJudgement.objects.exists()


def test_a_task_without_calculation_asks_for_three_dimensions(teacher: User) -> None:
    review = review_of(wrong_answers(1), [teacher])
    called("lsat-lr", items_of(review)[0].question.task)
    slot = taken(items_of(review)[0], teacher)
    with pytest.raises(BadInput):
        judge(slot, teacher)
    three = {one: 0 for one in Dimension if one is not Dimension.CALCULATION}
    with pytest.raises(BadInput):
        judge(slot, teacher, values=three, weaknesses=["calculation"])
    assert judge(slot, teacher, values=three).calculation is None


def test_only_who_holds_an_answer_of_an_open_review_judges_it(
    review: CapabilityReview, teacher: User, other_teacher: User, lead: User
) -> None:
    slot = claimed(teacher, review)
    with pytest.raises(NotFound):
        judge(slot, other_teacher)
    taken_over = ReviewSlot.objects.get(pk=slot.pk)
    ReviewSlot.objects.filter(pk=slot.pk).update(lease_until=NOW - timedelta(minutes=1))
    assert judge(taken_over, teacher)  # an ended lease that nobody took is still theirs
    second = claimed(teacher, review)
    close_review(review, acting_user=lead, now=NOW)
    with pytest.raises(Conflict) as refusal:
        judge(second, teacher)
    assert refusal.value.code == "review_closed"


def test_undo_leads_back_one_own_judgement_at_a_time(
    review: CapabilityReview, teacher: User, other_teacher: User
) -> None:
    with pytest.raises(Conflict):
        last_judged(teacher, review, None)
    first, second = (judge(claimed(teacher, review), teacher).slot for _ in range(2))
    say(items_of(review)[0], other_teacher)
    at_hand = claimed(teacher, review)
    first.refresh_from_db()
    second.refresh_from_db()
    assert last_judged(teacher, review, at_hand) == second
    assert last_judged(teacher, review, second) == first
    with pytest.raises(Conflict):
        last_judged(teacher, review, first)
    elsewhere = review_of(wrong_answers(1, "canary-other"), [teacher])
    of_other = judge(claimed(teacher, elsewhere), teacher).slot
    of_other.refresh_from_db()
    assert last_judged(teacher, review, of_other) == second


def test_who_leaves_may_look_and_never_judges_again(teacher: User, other_teacher: User) -> None:
    """Judge one, hold one, leave: the verdict stays, nothing is revised, the rest goes on."""
    ensure_user(teacher.username, roles=[Role.TEACHER, Role.LEAD])
    review = review_of(wrong_answers(3), [teacher, other_teacher])
    judged = claimed(teacher, review)
    verdict = judge(judged, teacher)
    held, client = claimed(teacher, review), logged_in(teacher)
    own = f"/reviewing/reviews/{review.public_id}/"
    assert client.get("/runs/").status_code == 403
    assert "Leave the review" in client.get(own).text
    assert logged_in(other_teacher).post(f"{own}leave/").status_code == 403, "no other role"
    assert client.post(f"{own}leave/").status_code == 302
    assert "left the review" in client.get(f"/reviews/{review.public_id}/").text
    for slot in (judged, held):
        assert client.get(f"/reviewing/answers/{slot.item.public_id}/").status_code == 404
        with pytest.raises(NotFound):  # a request that found the answer before
            judge(slot, teacher, based_on_version=int(slot == judged))
    assert client.post(f"{own}leave/").status_code == 404
    assert list(judged.judgements.all()) == [verdict]
    for _ in range(2):
        judge(claimed(other_teacher, review), other_teacher)
    assert not ReviewSlot.objects.filter(item__review=review, reviewed=False).exists()
