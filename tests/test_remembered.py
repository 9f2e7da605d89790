"""What a process remembers tells nobody what others have opened."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from evaluations.models import MarkingRound
from gradeapp.accounts.models import User
from gradeapp.common.remembered import remembered
from gradeapp.rendering.grammar import Grammar
from tests.conftest import logged_in
from tests.evaluations.marking_world import small_round

pytestmark = pytest.mark.django_db


def first_look(client: Client, made: MarkingRound) -> int:
    """Open the next response, and return how many statements the page took."""
    taken = client.post(f"/marking/rounds/{made.public_id}/next/")
    with CaptureQueriesContext(connection) as statements:
        assert client.get(taken["Location"]).status_code == 200
    return len(statements)


def test_a_page_takes_no_less_where_the_partner_has_opened_it(
    teacher: User, other_teacher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It came 14 ms sooner, of 42: texts were rendered and rubrics were read once a process."""
    renderings = 0
    render = Grammar.render

    def counted(self: Grammar, *given: Any) -> None:
        nonlocal renderings
        renderings += 1
        render(self, *given)

    monkeypatch.setattr(Grammar, "render", counted)
    own, partner = logged_in(teacher), logged_in(other_teacher)
    seen = []
    for opened_before in (False, False, True):  # the first is for what a session needs once
        made = small_round([teacher, other_teacher], 1)
        if opened_before:
            first_look(partner, made)
        renderings = 0
        seen.append((first_look(own, made), renderings))
    assert seen[1] == seen[2]
    renderings = 0
    assert first_look(own, made) < seen[2][0]
    assert not renderings, "what one opened oneself is remembered"


def test_results_are_kept_by_their_arguments() -> None:
    made: list[tuple[int, int]] = []

    @remembered(maxsize=2)
    def added(first: int, second: int = 0) -> int:
        made.append((first, second))
        return first + second

    assert [added(1), added(1), added(1, second=2), added(1, second=2)] == [1, 1, 3, 3]
    assert made == [(1, 0), (1, 2)]
    added.cache_clear()
    added(1)
    assert len(made) == 3
