"""Curators who label at the same time begin in different places, and meet at the end."""

from __future__ import annotations

from fractions import Fraction

import pytest
from django.urls import reverse

from gradeapp.accounts.models import User
from gradeapp.accounts.roles import Role
from questions.models import Question
from questions.rules.spread import beginning
from questions.rules.vocabulary import ItemStatus
from tests.conftest import logged_in
from tests.factories import make_question, make_task, make_user
from tests.questions.label_world import MECHANICS, make_knowledge

WHOLE = {"ability_branch": "reasoning", "knowledge": MECHANICS, "difficulty": "4", "modal": "text"}


@pytest.fixture
def eight(db: None) -> list[Question]:
    make_knowledge()
    task = make_task()
    return [make_question(task, stem=f"question number {n}") for n in range(8)]


def first(user: User, query: str = "") -> str:
    """The address of the item that the queue gives to *user* at its start."""
    return logged_in(user).get(reverse("questions:labelling-next") + query)["Location"]


def label(user: User, address: str) -> str:
    """Label the item at *address*; the address of the next."""
    return logged_in(user).post(address, WHOLE | {"seen": "0"})["Location"]


def at(question: Question) -> str:
    return reverse("questions:labelling-item", args=[question.public_id])


def test_each_begins_in_the_middle_of_a_widest_gap() -> None:
    found = [beginning(rank) for rank in range(8)]
    eighths = [0, 4, 2, 6, 1, 5, 3, 7]
    assert found == [Fraction(n, 8) for n in eighths]
    with pytest.raises(ValueError, match="from 0"):
        beginning(-1)


def test_curators_begin_apart_and_others_at_the_start(
    eight: list[Question], curator: User, admin: User
) -> None:
    others = [make_user(Role.CURATOR, name) for name in ("zhao", "qian")]
    places = [first(user) for user in (curator, *others, admin)]
    assert places == [at(eight[n]) for n in (0, 4, 2, 0)]
    eight[1].status = ItemStatus.EXCLUDED
    eight[1].save()
    assert first(others[0]) == at(eight[4]), "the fourth of seven: 3 lie before it"


def test_two_who_label_in_turn_meet_only_at_the_end(eight: list[Question], curator: User) -> None:
    second = make_user(Role.CURATOR, "zhao")
    now = {user: first(user) for user in (curator, second)}
    given = []
    for _ in range(4):
        for user in now:
            given.append(now[user])
            now[user] = label(user, now[user])
    assert given == [at(eight[n]) for n in (0, 4, 1, 5, 2, 6, 3, 7)]
    assert not Question.objects.filter(label=None).exists()
    assert now[curator] == at(eight[7]), "it was the last, and open before the other's eyes"
    assert now[second] == reverse("questions:labelling")


def test_who_comes_back_goes_on_and_comes_round(eight: list[Question], curator: User) -> None:
    second = make_user(Role.CURATOR, "zhao")
    assert label(second, first(second)) == at(eight[5])
    assert first(second) == at(eight[5])
    for number in (5, 6):
        label(second, at(eight[number]))
    assert label(second, at(eight[7])) == at(eight[0])
    assert first(second) == at(eight[0])
