"""The marking desk in a browser: keys, undo, an ended session, two windows, a slow network."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, Route, expect

from evaluations.models import Mark, MarkingRound
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.marking_world import small_round, subjective_question
from tests.factories import PASSWORD

RUBRIC = (("names the law", "3"), ("an essay", "15"), ("solves it", "2"))


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    question = subjective_question(rubric=RUBRIC, full="20")
    return small_round([teacher, other_teacher], 6, question=question, house_rulings="Half.")


def alias(page: Page) -> str:
    return page.locator("#marks").get_attribute("data-alias") or ""


def start(page: Page) -> str:
    """From the home to the first response; its alias."""
    page.goto("/marking/")
    page.keyboard.press("Enter")
    expect(page.locator(".point:focus-within")).to_have_count(1)
    return alias(page)


def keys(page: Page, *pressed: str) -> None:
    for key in pressed:
        page.keyboard.press(key)


def expect_another(page: Page, before: str) -> None:
    expect(page.locator("#marks")).not_to_have_attribute("data-alias", before)
    # A key pressed before the first point has the focus would go nowhere; no hand is so quick.
    if page.locator("html.js").count():
        expect(page.locator(".point:focus-within")).to_have_count(1)


def test_every_mark_can_be_given_by_keyboard(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher)
    now = start(page)
    total = page.locator("#sum")
    keys(page, "2", ".")
    expect(total).to_have_text("2.5")
    keys(page, ".", "ArrowRight", "ArrowLeft")
    expect(total).to_have_text("2")
    keys(page, "Backspace")
    expect(total).to_have_text("–")
    keys(page, "2", ".", "5")  # as one writes it
    expect(total).to_have_text("2.5")
    keys(page, "9")  # above the three points there are: refused, nothing changed
    expect(page.locator("#notices")).to_contain_text("9 is above the full marks, 3")
    keys(page, "ArrowDown", "1", "2", "ArrowDown", "1")
    expect(total).to_have_text("15.5")
    expect(page.locator("#given")).to_have_text("3 of 3 points given")
    keys(page, "f", "2", "Escape", "c")
    page.keyboard.type("why: u s f 1 2")
    keys(page, "Escape", "Enter")
    expect_another(page, now)
    mark = Mark.objects.get()
    points = [str(point.points) for point in mark.points.all()]
    assert points == ["2.50", "12.00", "1.00"]
    assert (mark.flags, mark.comment) == (["repeats"], "why: u s f 1 2")
    assert mark.seconds is not None
    expect(page.locator("#said")).to_contain_text("Saved. Next response: R-")


def test_a_missing_point_is_shown_and_not_saved(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    keys(page, "3", "ArrowDown", "ArrowDown", "2", "Enter")
    expect(page.locator("#notices")).to_contain_text("Scoring point 2 has no mark yet.")
    expect(page.locator(".point").nth(1)).to_have_attribute("data-active", "")
    assert Mark.objects.count() == 0


def test_tabs_views_and_help_have_their_keys(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher)
    start(page)
    for key, name in (("a", "Answer key"), ("n", "Analysis"), ("h", "Rulings"), ("q", "Question")):
        keys(page, key)
        expect(page.locator("[data-part][aria-current]")).to_have_text(name)
    keys(page, "r")
    expect(page.locator("pre.raw")).to_be_visible()
    keys(page, "r")
    expect(page.locator("pre.raw")).to_be_hidden()
    keys(page, "?")
    expect(page.get_by_role("dialog")).to_be_visible()
    keys(page, "Escape", "3")
    expect(page.locator("#sum")).to_have_text("3")


def test_undo_changes_the_last_mark_and_the_draft_waits(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    first = start(page)
    keys(page, "3", "ArrowDown", "7", "ArrowDown", "2", "Enter")
    expect_another(page, first)
    second = alias(page)
    keys(page, "1", "u")
    expect(page.locator("#marks")).to_have_attribute("data-alias", first)
    expect(page.locator("#sum")).to_have_text("12")
    keys(page, "0", "Enter")
    expect(page.locator("#marks")).to_have_attribute("data-alias", second)
    expect(page.locator("#sum")).to_have_text("1")  # what had been typed came back
    versions = Mark.objects.order_by("version").values_list("version", "total")
    assert list(versions) == [(1, Decimal(12)), (2, Decimal(9))]


def test_an_ended_session_loses_nothing(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher)
    now = start(page)
    Session.objects.all().delete()
    keys(page, "3", "ArrowDown", "7", "ArrowDown", "2", "Enter")
    expect(page.locator("#notices")).to_contain_text("Your session has ended")
    expect(page.locator(".saved[data-state=failed]")).to_be_visible()
    assert Mark.objects.count() == 0
    with page.expect_popup() as popup:
        page.locator("#notices a").click()
    tab = popup.value
    tab.fill("input[name=username]", teacher.username)
    tab.fill("input[name=password]", PASSWORD)
    tab.press("input[name=password]", "Enter")
    tab.wait_for_url(lambda url: "/login/" not in url)
    tab.close()
    page.bring_to_front()
    page.evaluate("dispatchEvent(new Event('focus'))")
    expect_another(page, now)
    assert Mark.objects.get().total == Decimal(12)
    site.troubles.clear()  # the browser itself reports the 401


def test_a_second_window_sees_both_marks(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher)
    now = start(page)
    second = page.context.new_page()
    second.goto(page.url)
    keys(page, "3", "ArrowDown", "7", "ArrowDown", "2", "Enter")
    expect_another(page, now)
    expect(second.locator(".point:focus-within")).to_have_count(1)
    keys(second, "0", "ArrowDown", "0", "ArrowDown", "0", "c")
    second.keyboard.type("second window")
    keys(second, "Control+Enter")
    expect(second.locator(".desk-message")).to_contain_text("Stored: 12 points")
    expect(second.locator("#comment")).to_have_value("second window")
    keys(second, "Enter")
    expect_another(second, now)
    newest = Mark.objects.filter(stale=False).order_by("-version").first()
    assert newest
    assert (newest.version, newest.total) == (2, Decimal(0))
    assert Mark.objects.filter(stale=True).count() == 1
    site.troubles.clear()  # the browser itself reports the 409


def test_answers_that_come_late_never_mix_two_responses(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    page = site.open(teacher)
    start(page)
    delays = iter([400, 50, 300, 10, 200, 100, 350, 20] * 4)

    def slowly(route: Route) -> None:
        page.wait_for_timeout(next(delays))
        route.continue_()

    page.route(re.compile("/(save|skip|undo|draft)/"), slowly)
    for _ in range(3):
        now = alias(page)
        keys(page, "3", "ArrowDown", "7", "ArrowDown", "2", "Enter", "Enter", "u", "0", "Enter")
        expect_another(page, now)
        form = page.locator("#marks")
        action = form.get_attribute("action") or ""
        answer = form.locator("[name=answer]").get_attribute("value") or "?"
        assert answer in action
        assert answer in page.url
    # What was pressed while a save was on its way changed nothing.
    assert {mark.total for mark in Mark.objects.all()} == {Decimal(12)}
    assert Mark.objects.filter(stale=False, version=1).count() == Mark.objects.count() == 3


def test_everything_works_without_a_script(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher, java_script_enabled=False)
    page.goto("/marking/")
    page.get_by_role("button", name="Start marking").click()
    first = alias(page)
    page.get_by_role("link", name="Raw").click()
    expect(page.locator("pre.raw")).to_be_visible()
    page.locator("input[name=point-1][value='2.5']").check(force=True)
    page.locator("input[name=point-2]").fill("12")
    page.get_by_role("button", name="Save & next").click()
    expect(page.locator("[data-refusal]")).to_have_text("Scoring point 3 has no mark yet.")
    expect(page.locator("input[name=point-2]")).to_have_value("12")
    page.locator("input[name=point-3][value='1']").check(force=True)
    page.locator("#flags > summary").click()
    page.get_by_label("Cut off").check()
    page.locator("#flags > summary").click()
    page.get_by_role("button", name="Save & next").click()
    expect_another(page, first)
    assert (Mark.objects.get().total, Mark.objects.get().flags) == (Decimal("15.5"), ["cut_off"])
    second = alias(page)
    page.get_by_role("button", name="Skip").click()
    expect_another(page, second)
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#marks")).to_have_attribute("data-alias", first)
    page.get_by_role("button", name="Leave it").click()
    expect_another(page, first)
