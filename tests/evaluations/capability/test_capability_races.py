"""Races of reviewers on the real database: claims, double clicks, two windows."""

from __future__ import annotations

import uuid
from functools import partial

import pytest

from evaluations.capability.services.capability_judging import SavedJudgement, save_judgement
from evaluations.capability.services.review_slots import claim_next, skip, take
from evaluations.models import CapabilityJudgement, ReviewSlot
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import Conflict
from tests.evaluations.marking.desk.test_marking_races import at_once, teachers
from tests.evaluations.review_world import NOW, all_of, items_of, review_of, taken, wrong_answers

pytestmark = pytest.mark.django_db(transaction=True)
ANSWERS = 12


def test_one_answer_is_claimed_by_one_reviewer() -> None:
    people = teachers(6)
    review = review_of(wrong_answers(3), people)
    claims = at_once(*[partial(claim_next, person, review, now=NOW) for person in people])
    got = [slot.pk for slot in claims if slot]
    assert len(got) == len(set(got)) == 3
    holders = dict(ReviewSlot.objects.values_list("pk", "holder"))
    for person, slot in zip(people, claims, strict=True):
        assert slot is None or holders[slot.pk] == person.pk


def test_rivals_for_one_slot_are_one_holder() -> None:
    people = teachers(4)
    review = review_of(wrong_answers(ANSWERS), people)
    for slot in ReviewSlot.objects.filter(item__review=review):
        won = at_once(*[partial(take, slot.pk, person, now=NOW) for person in people])
        assert sorted(won) == [False, False, False, True]
        slot.refresh_from_db()
        assert slot.holder == people[won.index(True)]


def test_two_windows_of_one_reviewer_never_judge_one_answer_twice() -> None:
    people = teachers(2)
    review = review_of(wrong_answers(1), people, reviewers_each=2)
    ReviewSlot.objects.update(planned=people[0])
    claims = at_once(*[partial(claim_next, people[0], review, now=NOW)] * 4)
    assert {slot for slot in claims if slot} == {ReviewSlot.objects.get(holder=people[0])}


def test_a_double_click_is_one_judgement() -> None:
    people = teachers(1)
    for item in items_of(review_of(wrong_answers(ANSWERS), people)):
        click = partial(
            save_judgement,
            taken(item, people[0]),
            people[0],
            key=uuid.uuid4(),
            based_on_version=0,
            values=all_of(1),
        )
        first, second = at_once(click, click)
        assert isinstance(first, SavedJudgement)
        assert first.judgement == second.judgement
    assert CapabilityJudgement.objects.count() == ANSWERS
    assert AuditEntry.objects.filter(tag=Tag.ANSWER_REVIEWED).count() == ANSWERS


def test_two_windows_with_different_judgements_count_one() -> None:
    people = teachers(1)
    for item in items_of(review_of(wrong_answers(ANSWERS), people)):
        slot = taken(item, people[0])
        saves = [
            partial(
                save_judgement,
                slot,
                people[0],
                key=uuid.uuid4(),
                based_on_version=0,
                values=all_of(value),
            )
            for value in (0, 1)
        ]
        saved = at_once(*saves)
        assert sum(isinstance(one, Conflict) for one in saved) == 1
        assert CapabilityJudgement.objects.filter(slot=slot).count() == 1


def test_what_is_judged_and_skipped_at_once_is_one_of_the_two() -> None:
    people = teachers(1)
    for item in items_of(review_of(wrong_answers(ANSWERS), people)):
        slot = taken(item, people[0])
        save = partial(
            save_judgement,
            slot,
            people[0],
            key=uuid.uuid4(),
            based_on_version=0,
            values=all_of(1),
        )
        saved, skipped = at_once(save, partial(skip, slot, people[0]))
        slot.refresh_from_db()
        assert slot.reviewed == isinstance(saved, SavedJudgement) == (not skipped)
        assert slot.holder == (None if skipped else people[0])
