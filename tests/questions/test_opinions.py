"""Opinions: the first sets the labels, the second stays blind, differences are resolved."""

from __future__ import annotations

from decimal import Decimal

import pytest

from gradeapp.accounts.models import User
from gradeapp.audit.models import AuditEntry
from gradeapp.audit.tags import Tag
from gradeapp.common.refusals import BadInput, Conflict
from questions.models import LabelOpinion, LabelRevision, Question
from questions.rules.four_tuple import FourTuple, Label
from questions.rules.label_agreement import NO_PAIRS
from questions.selectors.labels import label_history
from questions.selectors.opinions import (
    agreements,
    counting_opinions,
    open_differences,
    own_opinion,
)
from questions.services import opinions
from questions.services.human_rates import GivenRate, add_rate, correct_rate
from questions.services.labels import NO_LABELS, set_labels
from questions.services.opinions import give_opinion, resolve_difference, undo_opinion
from tests.factories import make_question, make_task
from tests.questions.label_world import MECHANICS, OPTICS, imported_labels, make_knowledge, shown

WHOLE = {"ability_branch": "reasoning", "knowledge": MECHANICS, "difficulty": 4, "modal": "text"}


def first(question: Question, user: User, **change: object) -> LabelOpinion:
    """An opinion in the labelling queue; it sets the labels."""
    return give_opinion(question, WHOLE | change, acting_user=user, sets_labels=True).opinion


def second(question: Question, user: User, **change: object) -> LabelOpinion:
    """An opinion in the second, blind labelling."""
    return give_opinion(question, WHOLE | change, acting_user=user, sets_labels=False).opinion


@pytest.fixture
def question(db: None) -> Question:
    make_knowledge()
    return make_question()


def test_the_first_opinion_sets_the_labels(question: Question, curator: User) -> None:
    imported_labels(question)
    opinion = first(question, curator)
    question.refresh_from_db()
    assert opinion.wrote == question.label
    mechanics = make_knowledge()[MECHANICS].pk
    origins = {"ability_branch": "person", "knowledge": "person", "difficulty": "person"}
    assert shown(question.label) == FourTuple(
        "reasoning", mechanics, 4, "text", origins | {"modal": "content"}
    )
    assert not opinion.seen_suggestion


def test_the_second_opinion_leaves_the_labels(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    question.refresh_from_db()
    opinion = second(question, admin, difficulty=1)
    assert (opinion.wrote, opinion.difficulty) == (None, 1)
    assert label_history(question).count() == 1


def test_who_comes_second_to_an_open_item_is_told_and_compared(
    question: Question, curator: User, admin: User
) -> None:
    same = Question.objects.get(pk=question.pk)
    first(question, curator)
    late = give_opinion(
        same, WHOLE | {"difficulty": 2}, acting_user=admin, sets_labels=True, seen=NO_LABELS
    )
    assert late.overtaken is not None
    assert late.overtaken.code == "labels_changed"
    assert not late.opinion.seen_suggestion  # nobody's labels were on the page
    same.refresh_from_db()
    assert same.label is not None
    assert same.label.difficulty == 4
    assert len(open_differences()) == 1


def test_labels_in_sight_make_an_opinion_dependent(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    question.refresh_from_db()
    opinion = first(question, admin, difficulty=1)
    assert opinion.seen_suggestion
    assert agreements() == []
    assert agreements(also_seen=True)[0].items == 1


def test_what_was_in_sight_of_an_opinion_stays_seen_when_it_is_undone(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator, difficulty=None)
    question.refresh_from_db()
    assert first(question, admin).seen_suggestion
    undo_opinion(acting_user=admin)
    assert second(question, admin).seen_suggestion
    assert agreements() == []
    undo_opinion(acting_user=curator)  # who had seen nothing is independent after an undo too
    assert not second(question, curator).seen_suggestion


def test_who_was_shown_a_difference_is_not_independent_any_more(
    question: Question, curator: User, admin: User
) -> None:
    """*Differences* shows both: what counts as independent is what was said before."""
    second(question, curator, difficulty=4)
    second(question, curator, difficulty=5)  # nobody else has said anything yet
    second(question, admin, difficulty=1)
    assert second(question, admin, difficulty=5).seen_suggestion
    (pair,) = agreements()
    assert (pair.items, pair.labels[Label.DIFFICULTY].agreed) == (1, 0)
    (seen,) = agreements(also_seen=True)
    assert seen.labels[Label.DIFFICULTY].agreed == 1
    undo_opinion(acting_user=admin)
    assert own_opinion(question, admin).difficulty == 1  # type: ignore[union-attr]
    undo_opinion(acting_user=admin)
    assert agreements() == []
    assert second(question, admin, difficulty=5).seen_suggestion


def test_an_undo_gives_back_what_was_said_before(
    question: Question, curator: User, admin: User
) -> None:
    """One after the other, the labels with them, and past what others set in between."""

    def stands() -> tuple[int | None, int | None]:
        question.refresh_from_db()
        own = own_opinion(question, curator)
        return own and own.difficulty, question.label and question.label.difficulty

    assert first(question, curator, difficulty=2)
    question.refresh_from_db()
    first(question, curator, difficulty=3)
    undo_opinion(acting_user=curator)
    assert stands() == (2, 2)
    first(question, curator, difficulty=4)
    undo_opinion(acting_user=curator)
    assert stands() == (2, 2)
    set_labels(question, {"difficulty": 5}, acting_user=admin)
    question.refresh_from_db()
    first(question, curator, difficulty=1)
    undo_opinion(acting_user=curator)
    assert stands() == (2, 5)
    undo_opinion(acting_user=curator)
    assert stands() == (None, 5)
    with pytest.raises(Conflict):
        undo_opinion(acting_user=curator)


def test_an_undo_of_all_gives_the_labels_from_before(question: Question, curator: User) -> None:
    first(question, curator, difficulty=2)
    question.refresh_from_db()
    first(question, curator, difficulty=3)
    for _ in range(2):
        undo_opinion(acting_user=curator)
    question.refresh_from_db()
    assert shown(question.label) == FourTuple()
    assert label_history(question).count() == 4


def test_an_undo_gives_back_the_level_that_the_rates_of_now_say(
    question: Question, curator: User
) -> None:
    rate = add_rate(question, GivenRate(Decimal("0.5"), "exam"), acting_user=curator)
    question.refresh_from_db()
    first(question, curator, difficulty=1)
    easy = GivenRate(Decimal("0.7"), "exam")
    correct_rate(rate, easy, acting_user=curator, reason="a slip")
    undo_opinion(acting_user=curator)
    question.refresh_from_db()
    assert shown(question.label) == FourTuple(difficulty=2, origins={"difficulty": "derived"})


def test_an_opinion_that_was_undone_after_all_is_not_independent(
    question: Question, curator: User, admin: User
) -> None:
    second(question, curator, difficulty=3)
    second(question, admin, difficulty=4)
    second(question, curator, difficulty=5)
    for _ in range(2):
        undo_opinion(acting_user=curator)
    second(question, curator, difficulty=4)
    assert agreements() == []
    assert agreements(also_seen=True)[0].labels[Label.DIFFICULTY].agreed == 1


def test_an_undo_leaves_what_others_set_to_the_same(
    question: Question, curator: User, admin: User
) -> None:
    for user, level in ((curator, 3), (admin, 4), (admin, 3)):
        first(question, user, difficulty=level)
        question.refresh_from_db()
    first(question, curator, difficulty=3, modal="image")
    for _ in range(2):
        undo_opinion(acting_user=curator)
    question.refresh_from_db()
    assert question.label is not None
    assert (question.label.difficulty, question.label.modal) == (3, "text")
    assert own_opinion(question, curator) is None


def test_an_undo_leaves_labels_that_were_resolved(
    question: Question, curator: User, admin: User
) -> None:
    kept = first(question, curator)
    last = second(question, admin, difficulty=1)
    resolve_difference(question, acting_user=admin, reason="so", last=last.pk, chosen=kept)
    undo_opinion(acting_user=curator)
    question.refresh_from_db()
    assert question.label is not None
    assert question.label.difficulty == 4


def test_undos_go_back_in_the_order_of_the_labels(question: Question, curator: User) -> None:
    other = make_question()
    for one, level in ((question, 3), (other, 2), (question, 4)):
        first(one, curator, difficulty=level)
        one.refresh_from_db()
    assert [undo_opinion(acting_user=curator).question for _ in range(3)] == [
        question, other, question
    ]  # fmt: skip


def test_who_agrees_stays_independent(question: Question, curator: User, admin: User) -> None:
    second(question, curator)
    second(question, admin)
    assert not second(question, admin, difficulty=2).seen_suggestion
    assert agreements()[0].labels[Label.DIFFICULTY].agreed == 0


def test_the_same_opinion_twice_is_one(question: Question, curator: User) -> None:
    one = first(question, curator)
    question.refresh_from_db()
    assert first(question, curator) == one
    assert LabelRevision.objects.count() == 1


def test_the_same_form_sent_again_writes_nothing(
    question: Question, curator: User, admin: User
) -> None:
    """What was seen is older than what it wrote itself."""
    change = WHOLE | {"difficulty": 2}
    for user, given in ((curator, WHOLE), (admin, change)):
        made = {
            give_opinion(question, given, acting_user=user, sets_labels=True, seen=NO_LABELS)
            for _ in range(3)
        }
        assert len({(one.opinion.pk, one.overtaken is None) for one in made}) == 1, user
    assert [row.overtaken for row in LabelRevision.objects.order_by("pk")] == [False, True]
    assert AuditEntry.objects.filter(tag="labels.set").count() == 2


def test_an_opinion_without_a_label_is_refused(question: Question, curator: User) -> None:
    for change, code in (({"modal": ""}, "no_labels"), ({"difficulty": 8}, "bad_level")):
        with pytest.raises(BadInput) as refused:
            give_opinion(question, change, acting_user=curator, sets_labels=False)
        assert refused.value.code == code
    assert not LabelOpinion.objects.exists()


def test_taking_back_restores_labels_and_origins(question: Question, curator: User) -> None:
    before = shown(imported_labels(question))
    opinion = first(question, curator)
    assert undo_opinion(acting_user=curator) == opinion
    question.refresh_from_db()
    assert shown(question.label) == before
    assert own_opinion(question, curator) is None
    assert label_history(question).count() == 3
    with pytest.raises(Conflict) as refused:
        undo_opinion(acting_user=curator)
    assert refused.value.code == "no_opinion"


def test_taking_back_goes_from_item_to_item(curator: User) -> None:
    make_knowledge()
    items = [make_question() for _ in range(2)]
    given = [first(item, curator) for item in items]
    assert [undo_opinion(acting_user=curator), undo_opinion(acting_user=curator)] == given[::-1]
    for item in items:
        item.refresh_from_db()
        assert shown(item.label) == FourTuple()


def test_of_two_clicks_at_once_one_undoes(
    question: Question, curator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    opinion = first(question, curator)
    real, clicks = opinions.last_opinion, [1]

    def slow(user: User) -> LabelOpinion | None:
        found = real(user)
        if clicks:
            clicks.pop()
            assert undo_opinion(acting_user=user) == opinion
        return found

    monkeypatch.setattr(opinions, "last_opinion", slow)
    with pytest.raises(Conflict, match="nothing to undo"):
        undo_opinion(acting_user=curator)


def test_taking_back_leaves_what_changed_since(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    question.refresh_from_db()
    first(question, admin, difficulty=1)
    undo_opinion(acting_user=curator)
    question.refresh_from_db()
    assert question.label is not None
    assert question.label.difficulty == 1


def test_agreement_by_label(curator: User, admin: User) -> None:
    """Four items; levels 1-1, 1-2, 2-2, 2-2: p_o 3/4, p_e (2*1 + 2*3)/16 = 1/2, kappa 1/2."""
    make_knowledge()
    task = make_task()
    for mine, theirs in ((1, 1), (1, 2), (2, 2), (2, 2)):
        item = make_question(task)
        first(item, curator, difficulty=mine)
        second(item, admin, difficulty=theirs, modal="")
    (pair,) = agreements()
    assert {pair.first, pair.second} == {curator.pk, admin.pk}
    assert pair.items == 4
    level = pair.labels[Label.DIFFICULTY]
    assert (level.n, level.agreed, level.kappa) == (4, 3, 0.5)
    assert pair.labels[Label.KNOWLEDGE].kappa is None  # all on mechanics
    assert (pair.labels[Label.MODAL].n, pair.labels[Label.MODAL].reason) == (0, NO_PAIRS)


def test_a_difference_is_resolved_by_one_opinion(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    theirs = second(question, admin, difficulty=1, knowledge=OPTICS)
    (difference,) = open_differences()
    assert (difference.question, difference.labels) == (
        question.pk,
        (Label.KNOWLEDGE, Label.DIFFICULTY),
    )
    made = resolve_difference(
        question, acting_user=curator, reason="a lens", last=difference.last, chosen=theirs
    )
    question.refresh_from_db()
    assert question.label is not None
    assert question.label.knowledge == make_knowledge()[OPTICS]
    assert (question.label.difficulty, question.label.reason) == (1, "a lens")
    assert (made.chosen, made.reason) == (theirs, "a lens")
    again = {"acting_user": curator, "last": difference.last, "chosen": theirs}
    assert resolve_difference(question, reason="a lens", **again) == made
    for given in ({"reason": "another"}, {"reason": "a lens", "acting_user": admin}):
        with pytest.raises(Conflict, match="resolved in the meantime"):
            resolve_difference(question, **(again | given))
    assert open_differences() == []
    assert AuditEntry.objects.filter(tag=Tag.LABELS_RESOLVED).count() == 1


def test_a_corrected_resolution_is_not_the_same_one(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    second(question, admin, difficulty=1)
    (difference,) = open_differences()
    by = {"acting_user": admin, "reason": "read again", "last": difference.last}
    made = resolve_difference(question, change={"difficulty": 3}, **by)
    assert resolve_difference(question, change={"difficulty": "3"}, **by) == made
    with pytest.raises(Conflict, match="resolved in the meantime"):
        resolve_difference(question, change={"difficulty": 5}, **by)
    question.refresh_from_db()
    assert question.label is not None
    assert question.label.difficulty == 3


def test_the_trail_has_each_resolution_and_each_undo(
    question: Question, curator: User, admin: User
) -> None:
    """Also a decision for the labels that stand, and labels that come back by an undo."""
    given = first(question, curator)
    second(question, admin, difficulty=1)
    (difference,) = open_differences()
    resolve_difference(question, acting_user=admin, reason="so", last=difference.last, chosen=given)
    assert AuditEntry.objects.get(tag=Tag.LABELS_RESOLVED).detail["row"] is None
    undone = undo_opinion(acting_user=admin)
    entry = AuditEntry.objects.get(tag=Tag.LABELS_UNDONE)
    assert (entry.detail["opinion"], entry.target) == (undone.pk, f"question:{question.pk}")
    second(question, admin, difficulty=2)  # a newer opinion opens it again
    assert len(open_differences()) == 1


def test_a_difference_is_resolved_by_labels_of_ones_own(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    last = second(question, admin, difficulty=1).pk
    resolve_difference(
        question, acting_user=admin, reason="between", last=last, change={"difficulty": "3"}
    )
    question.refresh_from_db()
    assert question.label is not None
    assert (question.label.difficulty, question.label.modal) == (3, "text")
    # Following the opinion that counts already writes no labels, and resolves it all the same.
    last = second(question, admin, difficulty=3, modal="image").pk
    resolve_difference(
        question, acting_user=admin, reason="so", last=last, change={"difficulty": "3"}
    )
    assert (label_history(question).count(), open_differences()) == (2, [])


def test_settling_needs_a_reason_and_opinions_as_they_are(
    question: Question, curator: User, admin: User
) -> None:
    first(question, curator)
    theirs = second(question, admin, difficulty=1)
    elsewhere = first(make_question(), curator)
    tries = [
        ({"reason": " \u200b", "last": theirs.pk, "chosen": theirs}, "no_reason"),
        ({"reason": "so", "last": theirs.pk - 1, "chosen": theirs}, "opinions_changed"),
        ({"reason": "so", "last": theirs.pk, "chosen": elsewhere}, "not_here"),
        ({"reason": "so", "last": theirs.pk, "change": {"modal": ""}}, "no_labels"),
    ]
    for given, code in tries:
        with pytest.raises((BadInput, Conflict)) as refused:
            resolve_difference(question, acting_user=admin, **given)
        assert refused.value.code == code
    assert counting_opinions().count() == 3
    assert len(open_differences()) == 1
