"""Bulk labelling: the preview says what happens, an undo gives back what was."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import LabelBatch, LabelRevision, Question
from questions.rules.four_tuple import Label
from questions.selectors.labels import kept_questions
from questions.services.bulk_labels import apply, preview, undo
from questions.services.human_rates import GivenRate, add_rate, correct_rate
from questions.services.labels import set_labels
from tests.factories import make_question, make_task
from tests.questions.label_world import MECHANICS, OPTICS, imported_labels, make_knowledge, shown

CHANGE = {"knowledge": MECHANICS, "difficulty": 3}


@pytest.fixture
def items(db: None) -> list[Question]:
    """Five items: two of level 3, one of them on optics; one of level 1; two without labels."""
    names = make_knowledge()
    task = make_task()
    made = [make_question(task) for _ in range(5)]
    imported_labels(made[0])
    imported_labels(made[1], knowledge=names[OPTICS])
    imported_labels(made[2], difficulty=1, knowledge=names[MECHANICS])
    return made


def keys(items: list[Question]) -> list[int]:
    return [item.pk for item in items]


def now(items: list[Question]) -> list[object]:
    found = Question.objects.select_related("label").in_bulk(keys(items))
    return [shown(found[item.pk].label) for item in items]


def test_the_preview_counts_what_would_change(items: list[Question]) -> None:
    optics = make_knowledge()[OPTICS].pk
    seen = preview(keys(items), CHANGE)
    assert (seen.questions, seen.changing) == (5, 5)
    knowledge, difficulty = seen.labels
    assert (knowledge.label, knowledge.becomes) == (Label.KNOWLEDGE, MECHANICS)
    assert knowledge.changes == ((None, 3), (optics, 1))
    assert (knowledge.same, knowledge.changing) == (1, 4)
    assert (difficulty.changes, difficulty.same) == (((None, 2), (1, 1)), 2)
    assert LabelBatch.objects.count() == 0


def test_applied_and_undone_everything_is_as_it_was(items: list[Question], curator: User) -> None:
    before = now(items)
    batch = apply(
        keys(items), CHANGE, acting_user=curator, query="subject=Physics", reason="chapter 2"
    )
    mechanics = make_knowledge()[MECHANICS].pk
    assert {(labels.knowledge, labels.difficulty) for labels in now(items)} == {(mechanics, 3)}
    # Level 3 was derived and stays so; what differs is the curator's.
    assert now(items)[0].origins == {
        "difficulty": "derived",
        "modal": "content",
        "knowledge": "person",
    }
    assert (batch.change, batch.query, batch.reason) == (CHANGE, "subject=Physics", "chapter 2")
    assert batch.revisions.count() == 5

    undoing = undo(batch, acting_user=curator)
    assert now(items) == before
    assert (undoing.undoes, undoing.change) == (batch, {"kept": []})
    tags = AuditEntry.objects.order_by("pk").values_list("tag", flat=True)
    assert list(tags) == [Tag.LABELS_BULK, Tag.LABELS_UNDONE]

    again = undo(undoing, acting_user=curator)  # the change, once more
    assert {(labels.knowledge, labels.difficulty) for labels in now(items)} == {(mechanics, 3)}
    assert again.undoes == undoing


def test_what_changed_since_is_kept_and_named(
    items: list[Question], curator: User, admin: User
) -> None:
    before = now(items)
    batch = apply(keys(items), CHANGE, acting_user=curator)
    touched = Question.objects.get(pk=items[1].pk)
    set_labels(touched, {"modal": "image"}, acting_user=admin)
    after = now(items)
    undoing = undo(batch, acting_user=curator)
    assert now(items) == [before[0], after[1], *before[2:]]
    assert list(kept_questions(undoing)) == [items[1]]
    assert undoing.revisions.count() == 4


def test_a_derived_level_comes_back_as_the_rates_of_now_say(
    items: list[Question], curator: User
) -> None:
    """Its rate was corrected while the level of a person stood."""
    item = items[0]
    rate = add_rate(item, GivenRate(Decimal("0.5"), "exam"), acting_user=curator)
    assert now([item])[0].difficulty == 3
    batch = apply([item.pk], {"difficulty": 1}, acting_user=curator)
    easy = GivenRate(Decimal("0.7"), "exam")
    correct_rate(rate, easy, acting_user=curator, reason="a slip")
    assert now([item])[0].difficulty == 1, "what a person set stays"
    undoing = undo(batch, acting_user=curator)
    (labels,) = now([item])
    assert (labels.difficulty, labels.origins["difficulty"]) == (2, "derived")
    undo(undoing, acting_user=curator)
    (labels,) = now([item])
    assert (labels.difficulty, labels.origins["difficulty"]) == (1, "person")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_changes_that_are_both_undone_leave_nothing(
    items: list[Question], curator: User, order: tuple[int, int]
) -> None:
    before = now(items)
    batches = [apply(keys(items), {"difficulty": n}, acting_user=curator) for n in (2, 4)]
    undone = [undo(batches[n], acting_user=curator) for n in order]
    assert now(items) == before
    for undoing in undone:  # each change, once more
        undo(undoing, acting_user=curator)
    assert {labels.difficulty for labels in now(items)} == {4}


def test_an_undo_looks_past_what_was_overtaken(items: list[Question], curator: User) -> None:
    late = Question.objects.get(pk=items[0].pk)
    set_labels(Question.objects.get(pk=late.pk), {"difficulty": 1}, acting_user=curator)
    with pytest.raises(Conflict):
        set_labels(late, {"difficulty": 5}, acting_user=curator)
    before = now(items)
    undo(apply(keys(items), CHANGE, acting_user=curator), acting_user=curator)
    assert now(items) == before


def test_only_items_that_change_get_a_row(items: list[Question], curator: User) -> None:
    batch = apply(keys(items), {"difficulty": 3}, acting_user=curator)
    assert set(batch.revisions.values_list("question", flat=True)) == set(keys(items[2:]))
    with pytest.raises(BadInput) as refused:
        apply(keys(items), {"difficulty": 3}, acting_user=curator)
    assert refused.value.code == "no_change"
    assert LabelBatch.objects.count() == 1


def test_a_batch_is_undone_once(items: list[Question], curator: User) -> None:
    batch = apply(keys(items), CHANGE, acting_user=curator)
    undo(batch, acting_user=curator)
    with pytest.raises(Conflict) as refused:
        undo(batch, acting_user=curator)
    assert refused.value.code == "undone"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, "empty_change"),
        ({"knowledge": "alchemy"}, "unknown_knowledge"),
        ({"difficulty": 9}, "bad_level"),
    ],
)
def test_a_bad_change_is_refused_before_anything(
    change: dict, code: str, items: list[Question], curator: User
) -> None:
    for refusing in (
        lambda: preview(keys(items), change),
        lambda: apply(keys(items), change, acting_user=curator),
    ):
        with pytest.raises(BadInput) as refused:
            refusing()
        assert refused.value.code == code
    assert LabelBatch.objects.count() == 0


def test_two_thousand_items_at_once(curator: User) -> None:
    make_knowledge()
    task = make_task()
    Question.objects.bulk_create(
        Question(task=task, external_id=str(n), position=n, subject=task.subject, part=task.part)
        for n in range(2000)
    )
    every = list(Question.objects.values_list("pk", flat=True))
    assert preview(every, CHANGE).changing == 2000
    batch = apply(every, CHANGE, acting_user=curator)
    undoing = undo(batch, acting_user=curator)
    assert undoing.revisions.count() == 2000
    assert LabelRevision.objects.count() == 4000
