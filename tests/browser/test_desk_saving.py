"""Only what somebody confirmed is saved: after a refusal, a failure, and while a save is sent."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from evaluations.marking.rounds.services.rounds import pause_round, resume_round
from evaluations.models import AnswerCheck, Draft, Mark, MarkingRound, Response
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.browser.test_check_desk import ready
from tests.browser.test_marking_desk import alias, expect_another, keys, start
from tests.evaluations.check_world import BRACKETED, answers
from tests.evaluations.marking_world import small_round, subjective_question

LONGEST_RETRY_MS = 3000  # the first one comes after 2 s


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    """A round without a rubric: one field for the mark."""
    return small_round([teacher, other_teacher], 4, question=subjective_question(rubric=()))


@pytest.fixture
def waiting(transactional_db: None) -> list[Response]:
    return answers(BRACKETED, BRACKETED)


def network_comes_back(page: Page) -> None:
    page.context.set_offline(True)
    page.context.set_offline(False)
    page.wait_for_timeout(500)


def expect_nothing_sent(page: Page, shown: str) -> None:
    """Neither by a timer, nor by the network that comes back, nor by the focus."""
    page.wait_for_timeout(LONGEST_RETRY_MS)
    network_comes_back(page)
    page.evaluate("() => void dispatchEvent(new Event('focus'))")
    page.wait_for_timeout(500)
    assert (alias(page), Mark.objects.count()) == (shown, 0)


def test_after_a_refusal_nothing_is_saved_until_somebody_saves(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    page.keyboard.type("9.3")
    keys(page, "Enter")
    expect(page.locator("#notices")).to_contain_text("9.3")
    page.locator("#total").fill("1")
    expect(page.locator("#saved")).to_contain_text("draft saved")
    expect_nothing_sent(page, now)
    page.locator("#total").fill("9")
    keys(page, "Enter")
    expect_another(page, now)
    assert Mark.objects.get().total == Decimal(9)
    site.troubles.clear()  # the browser itself reports the 400


def test_what_a_pause_refused_is_not_saved_when_the_round_goes_on(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    pause_round(made, acting_user=None, now=timezone.now())
    keys(page, "8", "Enter")
    expect(page.locator("#notices")).to_contain_text("Save them later")
    resume_round(made, acting_user=None)
    expect_nothing_sent(page, now)
    keys(page, "Enter")
    expect_another(page, now)
    assert Mark.objects.get().total == Decimal(8)
    site.troubles.clear()  # the browser itself reports the 409


def test_what_was_changed_after_a_failed_save_waits_for_the_next_one(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    page.route("**/save/", lambda route: route.abort())
    keys(page, "8", "Enter")
    expect(page.locator("#saved")).to_have_text("not saved, retrying")
    page.unroute("**/save/")
    keys(page, "ControlOrMeta+a", "1")
    expect(page.locator("#notices")).to_contain_text("Save again")
    expect(page.locator("#saved")).to_contain_text("draft saved")
    assert Draft.objects.get().content["total"] == "1"
    expect_nothing_sent(page, now)
    keys(page, "0", "Enter")
    expect_another(page, now)
    expect(page.locator("#notices")).not_to_contain_text("Save again")
    assert Mark.objects.get().total == Decimal(10)
    site.troubles.clear()  # the browser itself reports the request that went nowhere


def test_a_composition_after_a_failed_save_is_not_cut_off(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    page.route("**/save/", lambda route: route.fulfill(status=503, body="busy"))
    keys(page, "8", "c", "Enter")
    expect(page.locator("#saved")).to_have_text("not saved, retrying")
    page.unroute("**/save/")
    page.locator("#comment").focus()
    typist = page.context.new_cdp_session(page)
    composed = {"text": "qiho", "selectionStart": 4, "selectionEnd": 4}
    typist.send("Input.imeSetComposition", composed)
    expect_nothing_sent(page, now)
    expect(page.locator("#comment")).to_have_value("qiho")
    site.troubles.clear()  # the browser itself reports the 503


def test_what_was_changed_while_a_login_was_due_is_not_saved_by_the_login(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    keys(page, "8")
    expect(page.locator("#saved")).to_contain_text("draft saved")
    Session.objects.all().delete()
    keys(page, "Enter")
    dialog = page.get_by_role("dialog", name="Log in again")
    expect(dialog).to_be_visible()
    page.route("**/draft/", lambda route: route.abort())  # its login is another matter
    keys(page, "Escape")
    page.locator("#total").fill("1")
    tab = page.context.new_page()
    site.log_in(tab, teacher)
    tab.close()
    page.bring_to_front()
    expect_nothing_sent(page, now)
    site.troubles.clear()  # the browser itself reports the 401


def test_the_desk_of_checks_sends_only_what_was_confirmed(
    site: Site, waiting: list[Response], curator: User
) -> None:
    page = site.open(curator)
    page.goto("/checks/")
    keys(page, "Enter")
    ready(page, waiting[0])
    page.route("**/checks/**", lambda route: route.abort())
    keys(page, "Enter")
    expect(page.locator("#saved")).to_have_text("not saved, retrying")
    page.unroute("**/checks/**")
    keys(page, "b")  # chosen by the script
    expect(page.locator("#notices")).to_contain_text("Save again")
    page.wait_for_timeout(LONGEST_RETRY_MS)
    network_comes_back(page)
    assert not AnswerCheck.objects.exists()
    keys(page, "Enter")
    ready(page, waiting[1])
    assert AnswerCheck.objects.get().answers == ["B"]
    site.troubles.clear()  # the browser itself reports the request that went nowhere


def slow(page: Page) -> list[Route]:
    """Saves and skips that wait until ``go_on`` lets them go."""
    held: list[Route] = []
    page.route(re.compile("/(save|skip)/$"), lambda route: held.append(route))
    return held


def go_on(page: Page, held: list[Route]) -> None:
    expect(page.locator("#desk[data-busy]")).to_have_count(1)
    while not held:
        page.wait_for_timeout(20)
    held.pop().continue_()


def test_digits_typed_ahead_are_dropped_as_a_whole(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    held = slow(page)
    keys(page, "9", "Enter", "1")
    go_on(page, held)
    expect_another(page, now)
    keys(page, "0", "Enter")  # at once: the other digit of the 10
    expect(page.locator("#sum")).to_have_text("–")
    expect(page.locator("#notices")).to_contain_text("Type it again")
    assert [mark.total for mark in Mark.objects.all()] == [Decimal(9)]
    page.wait_for_timeout(1000)
    second = alias(page)
    keys(page, "1", "0")
    expect(page.locator("#sum")).to_have_text("10")
    keys(page, "Enter")
    go_on(page, held)
    expect_another(page, second)
    expect(page.locator("#notices")).not_to_contain_text("Type it again")
    assert Mark.objects.latest("id").total == Decimal(10)


def test_the_comment_takes_nothing_while_its_save_is_sent(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    now = start(page)
    held = slow(page)
    keys(page, "6", "c")
    page.keyboard.type("first words")
    keys(page, "Control+Enter")
    page.keyboard.type(" ONE MORE s")
    expect(page.locator("#comment")).to_have_value("first words")
    go_on(page, held)
    expect_another(page, now)
    expect(page.locator("#notices")).to_contain_text("Type it again")
    assert Mark.objects.get().comment == "first words"


def test_after_a_failed_save_the_focus_is_where_it_was(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    held = slow(page)
    keys(page, "6", "c")
    page.keyboard.type("words")
    keys(page, "ArrowLeft", "Enter")
    expect(page.locator("#desk[data-busy]")).to_have_count(1)
    page.wait_for_timeout(200)  # the browser takes the focus from what is inert
    held.pop().abort()
    expect(page.locator("#saved")).to_have_text("not saved, retrying")
    expect(page.locator("#comment")).to_be_focused()
    page.keyboard.type("x")
    expect(page.locator("#comment")).to_have_value("wordxs")
    site.troubles.clear()  # the browser itself reports the request that went nowhere


def test_a_check_typed_ahead_confirms_no_reading(
    site: Site, waiting: list[Response], curator: User
) -> None:
    page = site.open(curator)
    page.goto("/checks/")
    keys(page, "Enter")
    ready(page, waiting[0])
    held: list[Route] = []
    page.route("**/checks/**", lambda route: held.append(route))
    keys(page, "Enter", "b")
    go_on(page, held)
    page.unroute("**/checks/**")
    ready(page, waiting[1])
    keys(page, "Enter")
    page.wait_for_timeout(1000)
    assert AnswerCheck.objects.count() == 1
    keys(page, "b", "Enter")
    expect(page.locator("#check")).to_have_count(0)
    assert [one.answers for one in AnswerCheck.objects.order_by("pk")] == [["C"], ["B"]]
