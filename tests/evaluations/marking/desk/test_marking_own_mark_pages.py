"""An own mark at the desk: to be read, to be revised for a while, then only to be read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from evaluations.marking.desk.services.drafts import save_draft
from evaluations.marking.desk.services.marking import finish_revising
from evaluations.models import BlindAnswer, Mark, MarkingRound
from gradeapp.accounts.models import User
from tests.conftest import logged_in
from tests.evaluations.marking.desk.test_marking_pages import address, filled
from tests.evaluations.marking_world import answers_of, give, small_round

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
BOTH = pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
FORM = 'id="marks"'
OVER = "The time for changing this mark is over. The saved mark counts."


@pytest.fixture
def made(teacher: User, other_teacher: User) -> MarkingRound:
    return small_round([teacher, other_teacher], 2, window_minutes=15)


@pytest.fixture
def answer(made: MarkingRound, teacher: User) -> BlindAnswer:
    """A response that *teacher* has given 3 of 12."""
    answer = answers_of(made)[0]
    given: dict[str, Any] = {"comment": "nearly nothing", "flags": (), "now": timezone.now()}
    give(answer, teacher, ["1", "1.5", "0.5"], **given)
    return answer


def words(page: str) -> str:
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def test_a_marked_response_is_shown_to_be_read(answer: BlindAnswer, teacher: User) -> None:
    page = logged_in(teacher).get(address("desk", answer)).text
    assert FORM not in page
    assert "3 / 12" in words(page)
    assert "1.5 / 3" in words(page)
    assert "nearly nothing" in page
    assert "This is your saved mark. You can change it until" in " ".join(page.split())
    assert reverse("marking:revise", args=[answer.public_id]) in page


@BOTH
def test_a_mark_can_be_revised_in_its_window(
    headers: dict[str, str], answer: BlindAnswer, teacher: User
) -> None:
    client = logged_in(teacher)
    form = client.post(address("revise", answer), headers=headers, follow=True)
    assert form.status_code == 200
    assert 'name="point-2" value="1.5" checked' in form.text
    client.post(address("save", answer), filled(form.text, "3", "3", "6"))
    assert [str(mark.total) for mark in Mark.objects.order_by("version")] == ["3.00", "12.00"]


@BOTH
def test_after_its_window_a_mark_is_only_to_be_read_and_says_why(
    headers: dict[str, str], answer: BlindAnswer, teacher: User
) -> None:
    client = logged_in(teacher)
    client.post(address("done", answer.round))
    for name, thing in (("revise", answer), ("undo", answer.round)):
        page = client.post(address(name, thing), headers=headers, follow=True)
        assert page.status_code == (409 if headers else 200), name
        assert OVER in page.text
        assert FORM not in page.text
        assert "1.5 / 3" in words(page.text)
        assert reverse("marking:next", args=[answer.round.public_id]) in page.text


@BOTH
def test_a_window_that_ends_while_the_mark_is_revised_shows_both_marks(
    headers: dict[str, str], answer: BlindAnswer, teacher: User
) -> None:
    client = logged_in(teacher)
    form = client.post(address("revise", answer), headers=headers, follow=True).text
    finish_revising(teacher, answer.round, now=timezone.now())
    sent = filled(form, "3", "3", "6", comment="I was too strict")
    page = client.post(address("save", answer), sent, headers=headers)
    assert page.status_code == 409
    assert OVER in page.text
    assert FORM not in page.text
    assert "The mark you just submitted was not saved (total: 12)." in page.text
    assert "I was too strict" in page.text
    assert "3 / 12" in words(page.text)
    assert Mark.objects.filter(teacher=teacher).count() == 1


def test_a_draft_stays_in_sight_after_the_window(answer: BlindAnswer, teacher: User) -> None:
    slot = answer.slots.get(holder=teacher)
    typed = {"points": ["3", "3", "6"], "total": "", "comment": "typed late", "flags": []}
    kept: dict[str, Any] = {"sequence": 1, "content": typed, "based_on_version": 1}
    save_draft(slot, teacher, **kept, now=timezone.now())
    client = logged_in(teacher)
    assert FORM in client.get(address("desk", answer)).text
    finish_revising(teacher, answer.round, now=timezone.now())
    for query in ("", "?change"):
        page = client.get(address("desk", answer) + query).text
        assert FORM not in page
        assert "typed late" in page
        assert "Your draft of a change was not saved (total: 12)." in page


def test_what_one_only_holds_is_shown_in_its_form(
    answer: BlindAnswer, made: MarkingRound, teacher: User
) -> None:
    client = logged_in(teacher)
    held = client.post(address("next", made))["Location"]
    assert FORM in client.get(held).text
    assert FORM in client.post(f"{held}revise/", follow=True).text
