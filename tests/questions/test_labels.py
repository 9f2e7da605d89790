"""Setting labels: one item at a time, nobody's work lost."""

from __future__ import annotations

import pytest

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import LabelRevision, Question
from questions.rules.four_tuple import FourTuple
from questions.selectors.labels import UNLABELLED, label_history
from questions.services.labels import NO_LABELS, set_labels
from tests.factories import make_question
from tests.questions.label_world import MECHANICS, imported_labels, make_knowledge, shown

WHOLE = {"ability_branch": "reasoning", "knowledge": MECHANICS, "difficulty": 4, "modal": "text"}


def test_a_person_overrides_what_was_derived_and_the_rest_stays(curator: User) -> None:
    question = make_question()
    before = imported_labels(question)
    row = set_labels(question, {"difficulty": 5}, acting_user=curator, reason="too hard for 3")
    assert row is not None
    assert shown(row) == FourTuple(
        difficulty=5, modal="text", origins={"difficulty": "person", "modal": "content"}
    )
    assert (row.author, row.reason) == (curator, "too hard for 3")
    question.refresh_from_db()
    assert question.label == row
    assert list(label_history(question)) == [row, before]
    entry = AuditEntry.objects.get(tag=Tag.LABELS_SET)
    assert (entry.actor, entry.target) == (curator, f"question:{question.pk}")
    assert entry.detail == {"row": row.pk, "change": {"difficulty": 5}, "overtaken": False}


def test_the_first_labels_of_an_item(curator: User) -> None:
    names = make_knowledge()
    question = make_question()
    assert set(Question.objects.filter(UNLABELLED)) == {question}
    row = set_labels(question, WHOLE, acting_user=curator)
    assert row is not None
    assert (row.knowledge, set(row.origins.values())) == (names[MECHANICS], {"person"})
    assert not Question.objects.filter(UNLABELLED).exists()


def test_nothing_is_written_when_nothing_differs(curator: User) -> None:
    question = make_question()
    before = imported_labels(question)
    assert set_labels(question, {"difficulty": 3, "knowledge": ""}, acting_user=curator) is None
    assert list(label_history(question)) == [before]
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"knowledge": "alchemy"}, "unknown_knowledge"),
        ({"difficulty": 6}, "bad_level"),
        ({"difficulty": "hard"}, "bad_level"),
        ({"modal": "smell"}, "unknown_value"),
        ({"colour": "red"}, "unknown_label"),
    ],
)
def test_what_does_not_exist_is_refused(change: dict, code: str, curator: User) -> None:
    question = make_question()
    with pytest.raises(BadInput) as refused:
        set_labels(question, change, acting_user=curator)
    assert refused.value.code == code
    assert not LabelRevision.objects.exists()


def test_the_second_of_two_curators_is_told_and_both_are_kept(curator: User, admin: User) -> None:
    question = make_question()
    imported_labels(question)
    first, second = (Question.objects.get(pk=question.pk) for _ in range(2))
    won = set_labels(first, {"difficulty": 1}, acting_user=curator)
    with pytest.raises(Conflict) as refused:
        set_labels(second, {"difficulty": 2}, acting_user=admin)
    assert refused.value.code == "labels_changed"
    question.refresh_from_db()
    assert question.label == won
    history = [(row.difficulty, row.author, row.overtaken) for row in label_history(question)]
    assert history == [(2, admin, True), (1, curator, False), (3, None, False)]
    with pytest.raises(Conflict):  # nobody had seen labels that now are there
        set_labels(question, {"difficulty": 2}, acting_user=admin, seen=NO_LABELS)


def test_labels_that_were_overtaken_count_when_given_on_a_fresh_page(
    curator: User, admin: User
) -> None:
    question = make_question()
    imported = imported_labels(question)
    change = {"difficulty": 2}
    won = set_labels(question, {"difficulty": 5}, acting_user=curator, seen=imported.pk)
    for _ in range(2):  # the old form, sent twice, is kept once
        with pytest.raises(Conflict):
            set_labels(question, change, acting_user=admin, seen=imported.pk)
    assert won is not None
    assert label_history(question).count() == 3
    row = set_labels(question, change, acting_user=admin, seen=won.pk)
    assert row is not None
    assert set_labels(question, change, acting_user=admin, seen=won.pk) is None
    question.refresh_from_db()
    assert (question.label, row.overtaken, row.origins["difficulty"]) == (row, False, "person")
    assert label_history(question).count() == 4


def test_labels_of_another_item_were_never_seen_here(curator: User) -> None:
    question, other = make_question(), make_question()
    row = imported_labels(other)
    with pytest.raises(BadInput) as refused:
        set_labels(question, {"difficulty": 2}, acting_user=curator, seen=row.pk)
    assert refused.value.code == "other_question"
