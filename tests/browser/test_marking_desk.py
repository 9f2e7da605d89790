"""The marking desk in a browser: every mark by keyboard, undo, and all of it without a script."""

from __future__ import annotations

from decimal import Decimal

import pytest
from playwright.sync_api import Page, expect

from evaluations.models import Mark, MarkingRound
from gradeapp.accounts.models import User
from tests.browser.conftest import Site
from tests.evaluations.marking_world import small_round, subjective_question

RUBRIC = (("names the law", "3"), ("an essay", "15"), ("solves it", "2"))


@pytest.fixture
def made(transactional_db: None, teacher: User, other_teacher: User) -> MarkingRound:
    question = subjective_question(rubric=RUBRIC, full="20")
    settings = {"marking_notes": "Half.", "window_minutes": 15}
    return small_round([teacher, other_teacher], 6, question=question, **settings)


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


def pressed_by_event(page: Page, key: str) -> None:
    """A key that the driver's keyboard lacks, as the browser tells a page of it."""
    page.locator(":focus").dispatch_event("keydown", {"key": key, "bubbles": True})


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
    for half in (".", ",", "。", "，"):  # also those of a Chinese keyboard
        keys(page, "Backspace", "1")
        pressed_by_event(page, half)
        expect(total).to_have_text("1.5")
    keys(page, "2", ".")
    expect(total).to_have_text("2.5")
    keys(page, "9")  # above the three points there are: refused, nothing changed
    expect(page.locator(".point .mark-fault")).to_contain_text("9 is above the full marks, 3")
    keys(page, "ArrowDown", "1", "1", ".")  # in a field, too, "." adds a half
    expect(total).to_have_text("14")
    keys(page, "2", "5")
    expect(total).to_have_text("13.75")
    for point in (",", "。", "，"):
        page.locator(".point-entry").fill("11")
        pressed_by_event(page, point)
        expect(page.locator(".point-entry")).to_have_value("11.")
        keys(page, "5")
        expect(total).to_have_text("14")
    page.locator(".point-entry").fill("11，")  # as an input method writes it
    expect(total).to_have_text("14")
    page.locator(".point-entry").fill("11.25")
    keys(page, "x", " ", "?")  # what could not be a mark is no text of the field
    expect(page.locator("dialog[data-keys-help]")).to_be_visible()
    keys(page, "Escape")
    expect(page.locator(".point-entry")).to_have_value("11.25")
    page.locator(".point-entry").fill("16")  # above the maximum: refused at the field, at once
    expect(page.locator(".mark-fault")).to_have_text("16 is above the full marks, 15.")
    expect(total).to_have_text("2.5")
    keys(page, "Enter")
    expect(page.locator(".point-entry")).to_be_focused()
    assert Mark.objects.count() == 0
    page.locator(".point-entry").fill("12")
    expect(page.locator(".mark-fault")).to_have_count(0)
    keys(page, "ArrowDown", "1")
    expect(total).to_have_text("15.5")
    expect(page.locator("#given")).to_have_text("3 of 3 scoring points marked")
    keys(page, "f", "2", "Escape", "c")
    page.keyboard.type("why: u s f ")
    keys(page, "Home", "Escape", "c")  # back to where the text ends
    page.keyboard.type("1 2")
    keys(page, "Escape", "Enter")
    expect_another(page, now)
    mark = Mark.objects.get()
    points = [str(point.points) for point in mark.points.all()]
    assert points == ["2.50", "12.00", "1.00"]
    assert (mark.flags, mark.comment) == (["repeats"], "why: u s f 1 2")
    assert mark.seconds is not None
    expect(page.locator("#said")).to_contain_text("Saved. Next response: R-")


def test_enter_saves_nothing_while_the_digit_that_was_typed_last_is_refused(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    """The point still has the mark from before."""
    page = site.open(teacher)
    now = start(page)
    keys(page, "2", "ArrowDown", "m", "ArrowDown", "1", "ArrowUp", "ArrowUp", "9", "Enter")
    expect(page.locator(".message").filter(has_text="9 is above the full marks")).to_be_visible()
    assert Mark.objects.count() == 0
    keys(page, "3", "Enter")
    expect_another(page, now)
    assert Mark.objects.get().points.earliest("pk").points == 3


def test_a_dot_adds_a_half_to_a_mark_that_was_given_before(
    site: Site, made: MarkingRound, teacher: User
) -> None:
    """The field is selected then, so that a digit replaces the mark."""
    page = site.open(teacher)
    start(page)
    entry = page.locator(".point-entry")
    keys(page, "ArrowDown", "m", ".")
    expect(page.locator(".mark-fault")).to_have_text("15.5 is above the full marks, 15.")
    expect(entry).to_have_value("15")
    for half, value in (("o", "0"), (".", "0."), (".", "0"), ("，", "0."), ("5", "0.5")):
        keys(page, half) if half.isascii() else pressed_by_event(page, half)
        expect(entry).to_have_value(value)


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
    for key, name in (
        ("a", "Answer key"),
        ("n", "Analysis"),
        ("h", "Marking notes"),
        ("q", "Question"),
    ):
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
    expect_another(page, second)
    assert alias(page) == first
    expect(page.locator("#sum")).to_have_text("12")
    keys(page, "0", "Enter")
    expect(page.locator("#marks")).to_have_attribute("data-alias", second)
    expect(page.locator("#sum")).to_have_text("1")  # what had been typed came back
    versions = Mark.objects.order_by("version").values_list("version", "total")
    assert list(versions) == [(1, Decimal(12)), (2, Decimal(9))]


def test_everything_works_without_a_script(site: Site, made: MarkingRound, teacher: User) -> None:
    page = site.open(teacher, java_script_enabled=False)
    page.goto("/marking/")
    page.get_by_role("button", name="Start marking").click()
    first = alias(page)
    page.get_by_role("link", name="Plain text").click()
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
    page.reload()  # undo redirected: nothing is sent again
    expect(page.locator("#marks")).to_have_attribute("data-alias", first)
    page.get_by_role("button", name="Keep saved mark").click()
    expect_another(page, first)
